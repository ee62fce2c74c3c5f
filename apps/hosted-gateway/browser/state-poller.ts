/**
 * Asks for the session's state until told to stop: at growing intervals, and at once when there is reason to hope. While
 * the server tells changes by itself it asks only when that has fallen silent.
 */
import { pollDelayMs, type SessionState, TOLD_SILENCE_MS } from './payment-flow.js';

export class StatePoller {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private inFlight: AbortController | undefined;
  private polls = 0;
  private running = false;
  private isTold = false;

  /**
   * @param ask one question; undefined when nobody could say
   * @param onState called with each answer
   * @param onSilence called when there was none
   */
  constructor(
    private readonly ask: (signal: AbortSignal) => Promise<SessionState | undefined>,
    private readonly onState: (state: SessionState) => void,
    private readonly onSilence: () => void,
  ) {}

  start(firstDelayMs = pollDelayMs(0)): void {
    if (this.running) return;
    this.running = true;
    this.polls = 0;
    this.schedule(firstDelayMs);
  }

  stop(): void {
    this.running = false;
    clearTimeout(this.timer);
    this.inFlight?.abort();
    this.inFlight = undefined;
  }

  /** The network came back, or the payer looks again: what hangs from before is not worth waiting for. */
  pollNow(): void {
    if (!this.running) return;
    this.inFlight?.abort();
    this.polls = 0;
    this.schedule(0);
  }

  /** The server told the state by itself. */
  told(state: SessionState): void {
    if (!this.running) return;
    this.isTold = true;
    this.onState(state);
    if (this.running && !this.inFlight) this.schedule(TOLD_SILENCE_MS);
  }

  /** It will not tell any more, for now. */
  untold(): void {
    if (!this.isTold) return;
    this.isTold = false;
    this.pollNow();
  }

  private schedule(delayMs: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.poll(), delayMs);
  }

  private async poll(): Promise<void> {
    const question = new AbortController();
    this.inFlight = question;
    const state = await this.ask(question.signal);
    // Aborted: stopped, or a newer question is on its way.
    if (this.inFlight !== question || question.signal.aborted) return;
    this.inFlight = undefined;
    this.polls++;
    if (state) this.onState(state);
    else {
      // Whoever cannot be asked cannot tell either, whatever the browser believes of the connection.
      this.isTold = false;
      this.onSilence();
    }
    if (this.running) this.schedule(this.isTold ? TOLD_SILENCE_MS : pollDelayMs(this.polls));
  }
}
