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
  private closeStream: (() => void) | undefined;

  /**
   * @param ask one question; undefined when nobody could say
   * @param onState called with each answer
   * @param onSilence called when there was none
   * @param stream has the server tell by itself, until the function that it returns is called
   */
  constructor(
    private readonly ask: (signal: AbortSignal) => Promise<SessionState | undefined>,
    private readonly onState: (state: SessionState) => void,
    private readonly onSilence: () => void,
    private readonly stream: (onState: (state: SessionState) => void, onBroken: () => void) => () => void,
  ) {}

  start(firstDelayMs = pollDelayMs(0)): void {
    if (this.running) return;
    this.running = true;
    this.polls = 0;
    this.schedule(firstDelayMs);
  }

  /** Its stream, too: what that one would tell is of the try that is over. */
  stop(): void {
    this.running = false;
    this.isTold = false;
    this.closeStream?.();
    this.closeStream = undefined;
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

  /** After the first answer, so that a payment that is decided at once costs no stream. */
  private open(): void {
    if (!this.running || this.closeStream) return;
    let isOpen = true;
    const close = this.stream(
      (state) => {
        if (isOpen) this.told(state);
      },
      () => {
        if (isOpen) this.untold();
      },
    );
    this.closeStream = () => {
      isOpen = false;
      close();
    };
  }

  /** The server told the state by itself. */
  private told(state: SessionState): void {
    this.isTold = true;
    this.onState(state);
    if (this.running && !this.inFlight) this.schedule(TOLD_SILENCE_MS);
  }

  /** It will not tell any more, for now. */
  private untold(): void {
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
    if (state) {
      this.open();
      this.onState(state);
    } else {
      // Whoever cannot be asked cannot tell either, whatever the browser believes of the connection.
      this.isTold = false;
      this.onSilence();
    }
    if (this.running) this.schedule(this.isTold ? TOLD_SILENCE_MS : pollDelayMs(this.polls));
  }
}
