/**
 * Polls the state of the session until it is stopped. It polls at growing intervals, and immediately when a result is
 * likely. While the stream sends events, it polls only after a silence of {@link STREAM_SILENCE_MS}.
 */
import { pollDelayMs, type SessionState, STREAM_SILENCE_MS } from './payment-flow.js';

export class StatePoller {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private inFlight: AbortController | undefined;
  private polls = 0;
  private isRunning = false;
  private isStreaming = false;
  private closeStream: (() => void) | undefined;

  /**
   * @param fetchState fetches the state; undefined if the call failed
   * @param onState called with each state
   * @param onFailure called when a poll failed
   * @param openStream opens a stream, and returns a function that closes it
   */
  constructor(
    private readonly fetchState: (signal: AbortSignal) => Promise<SessionState | undefined>,
    private readonly onState: (state: SessionState) => void,
    private readonly onFailure: () => void,
    private readonly openStream: (onState: (state: SessionState) => void, onBroken: () => void) => () => void,
  ) {}

  start(firstDelayMs = pollDelayMs(0)): void {
    if (this.isRunning) return;
    this.isRunning = true;
    this.polls = 0;
    this.schedule(firstDelayMs);
  }

  /** Stops polling and closes the stream, because later states would belong to another payment. */
  stop(): void {
    this.isRunning = false;
    this.isStreaming = false;
    this.closeStream?.();
    this.closeStream = undefined;
    clearTimeout(this.timer);
    this.inFlight?.abort();
    this.inFlight = undefined;
  }

  /** Polls immediately, for example when the network is available again. Aborts a pending poll, because it may hang. */
  pollNow(): void {
    if (!this.isRunning) return;
    this.inFlight?.abort();
    this.polls = 0;
    this.schedule(0);
  }

  /** Opens the stream. Called after the first poll, so that a payment with an immediate result needs no stream. */
  private openStreamOnce(): void {
    if (!this.isRunning || this.closeStream) return;
    let isOpen = true;
    const close = this.openStream(
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

  private onStreamState(state: SessionState): void {
    this.isStreaming = true;
    this.onState(state);
    if (this.isRunning && !this.inFlight) this.schedule(STREAM_SILENCE_MS);
  }

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
    const controller = new AbortController();
    this.inFlight = controller;
    const state = await this.fetchState(controller.signal);
    // Ignores the result after stop and pollNow.
    if (controller.signal.aborted) return;
    this.inFlight = undefined;
    this.polls++;
    if (state) {
      this.openStreamOnce();
      this.onState(state);
    } else {
      // If a poll fails, the stream is probably broken too, even if the browser has not detected it yet.
      this.isStreaming = false;
      this.onFailure();
    }
    if (this.isRunning) this.schedule(this.isStreaming ? STREAM_SILENCE_MS : pollDelayMs(this.polls));
  }
}
