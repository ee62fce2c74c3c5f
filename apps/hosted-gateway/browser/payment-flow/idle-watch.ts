/**
 * Watches the session while the form is shown. If the session is paid on another device, cancelled or expired, the
 * payer should not fill in the form. A visible tab uses a stream. A hidden tab closes the stream, and fetches the state
 * when it becomes visible again, because a browser allows only few connections to a host for all of its tabs.
 */
import type { SessionState } from './payment-flow.js';

/** Delay before the stream is opened, so that the page loads first. No payer can scan the code and pay in this time. */
export const STREAM_DELAY_MS = 1_000;
/** Time until the watch opens another stream after the server has rejected a stream. */
export const RETRY_MS = 10_000;
/** Time after the expiry before the state is fetched, for small differences between the clocks of server and browser. */
export const EXPIRY_MARGIN_MS = 1_000;
/** Limit for timers: one day. Browsers run a timer of 2^31 ms or more immediately. */
export const MAX_TIMER_MS = 86_400_000;

interface IdleWatchDependencies {
  readonly isVisible: () => boolean;
  readonly fetchState: () => Promise<SessionState | undefined>;
  readonly openStream: (onState: (state: SessionState) => void, onBroken: (isClosed: boolean) => void) => () => void;
  readonly onState: (state: SessionState) => void;
}

export class IdleWatch {
  private isRunning = false;
  private stopCount = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closeStream: (() => void) | undefined;

  constructor(private readonly dependencies: IdleWatchDependencies) {}

  start(afterMs = STREAM_DELAY_MS): void {
    this.isRunning = true;
    this.scheduleOpen(afterMs);
  }

  /** Stops watching, for example because the payer pressed Pay and the poller watches the payment. */
  stop(): void {
    this.isRunning = false;
    this.stopCount++;
    this.close();
  }

  /** Must be called when the tab has become visible or hidden. */
  onVisibilityChange(): void {
    if (!this.isRunning) return;
    this.close();
    if (!this.dependencies.isVisible()) return;
    void this.fetchNow();
    this.scheduleOpen(0);
  }

  async fetchNow(): Promise<void> {
    const { stopCount } = this;
    const state = await this.dependencies.fetchState();
    // If the watch was stopped during the request, and possibly restarted, this state may be outdated.
    if (state && this.isRunning && this.stopCount === stopCount) this.dependencies.onState(state);
  }

  /**
   * Fetches the state once after the session has expired, so that the page no longer shows a form. Ignores an expiry in
   * the past.
   */
  fetchAtExpiry(expiresAt: string, now: Date): void {
    const untilExpiry = Date.parse(expiresAt) - now.getTime() + EXPIRY_MARGIN_MS;
    if (untilExpiry > 0 && untilExpiry < MAX_TIMER_MS) setTimeout(() => void this.fetchNow(), untilExpiry);
  }

  private scheduleOpen(delayMs: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), delayMs);
  }

  private open(): void {
    if (!this.isRunning || !this.dependencies.isVisible()) return;
    this.close();
    this.closeStream = this.dependencies.openStream(
      (state) => {
        if (this.isRunning) this.dependencies.onState(state);
      },
      (isClosed) => {
        if (!this.isRunning || !isClosed) return;
        this.close();
        void this.fetchNow();
        this.scheduleOpen(RETRY_MS);
      },
    );
  }

  private close(): void {
    clearTimeout(this.timer);
    this.closeStream?.();
    this.closeStream = undefined;
  }
}
