/** Asks for the session's state until told to stop: at growing intervals, and at once when there is reason to hope. */
import { pollDelayMs, type SessionState } from './payment-flow.js';

export class StatePoller {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private inFlight: AbortController | undefined;
  private polls = 0;
  private running = false;

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
    else this.onSilence();
    if (this.running) this.schedule(pollDelayMs(this.polls));
  }
}
