/**
 * Polls the session's state until stopped: at growing intervals, and immediately when a result is likely. While
 * the stream delivers changes, it polls only after a longer silence.
 */
import { pollDelayMs, type SessionState, STREAM_SILENCE_MS } from './payment-flow.js';

export class StatePoller {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private inFlight: AbortController | undefined;
  private polls = 0;
  private running = false;
  private isStreaming = false;
  private closeStream: (() => void) | undefined;

  /**
   * @param ask fetches the state; undefined if the call failed
   * @param onState called with each state
   * @param onSilence called when a poll failed
   * @param stream opens a stream; the function that it returns closes it
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

  /** Also closes the stream: its next state would belong to an attempt that is over. */
  stop(): void {
    this.running = false;
    this.isStreaming = false;
    this.closeStream?.();
    this.closeStream = undefined;
    clearTimeout(this.timer);
    this.inFlight?.abort();
    this.inFlight = undefined;
  }

  /** Polls immediately, because the network is back or the tab is visible again. Aborts a pending poll, which may hang. */
  pollNow(): void {
    if (!this.running) return;
    this.inFlight?.abort();
    this.polls = 0;
    this.schedule(0);
  }

  /** Called after the first poll, so that a payment with an immediate result needs no stream. */
  private open(): void {
    if (!this.running || this.closeStream) return;
    let isOpen = true;
    const close = this.stream(
      (state) => {
        if (isOpen) this.onStreamState(state);
      },
      () => {
        if (isOpen) this.onStreamBroken();
      },
    );
    this.closeStream = () => {
      isOpen = false;
      close();
    };
  }

  /** The stream delivered a state. */
  private onStreamState(state: SessionState): void {
    this.isStreaming = true;
    this.onState(state);
    if (this.running && !this.inFlight) this.schedule(STREAM_SILENCE_MS);
  }

  /** The stream is broken for now. */
  private onStreamBroken(): void {
    if (!this.isStreaming) return;
    this.isStreaming = false;
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
    // Aborted: the poller was stopped, or a newer poll is pending.
    if (this.inFlight !== question || question.signal.aborted) return;
    this.inFlight = undefined;
    this.polls++;
    if (state) {
      this.open();
      this.onState(state);
    } else {
      // If polling fails, the stream is broken too, even if the browser has not noticed it.
      this.isStreaming = false;
      this.onSilence();
    }
    if (this.running) this.schedule(this.isStreaming ? STREAM_SILENCE_MS : pollDelayMs(this.polls));
  }
}
