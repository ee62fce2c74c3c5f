/**
 * Watches the session while the form waits for the payer. The session may be paid with a phone or through a partner, cancelled or
 * expired: then the payer should not fill in the form. A visible tab uses a stream. A hidden tab closes it and fetches the state
 * when it becomes visible again, because a browser shares few connections to a host among all its tabs.
 */
import type { SessionState } from './payment-flow.js';

/** Delay after page load, so that the page loads first. No payer can scan the code and pay faster. */
export const WATCH_AFTER_MS = 1_000;
/** If the server rejects a stream, interval until the next attempt; the state is fetched as often. */
export const RETRY_MS = 10_000;
/** Margin for small differences between the clocks of server and browser. */
export const EXPIRY_MARGIN_MS = 1_000;
/** Limit for timers: one beyond 2^31 ms would fire immediately. */
export const MAX_TIMER_MS = 86_400_000;

export interface IdleWatchParts {
  readonly isVisible: () => boolean;
  readonly fetchState: () => Promise<SessionState | undefined>;
  readonly stream: (onState: (state: SessionState) => void, onBroken: (isOver: boolean) => void) => () => void;
  readonly onState: (state: SessionState) => void;
}

export class IdleWatch {
  private isRunning = false;
  private stops = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closeStream: (() => void) | undefined;

  constructor(private readonly parts: IdleWatchParts) {}

  start(afterMs = WATCH_AFTER_MS): void {
    this.isRunning = true;
    this.openIn(afterMs);
  }

  /** Stops, for example because the payer pressed Pay and the poller takes over. */
  stop(): void {
    this.isRunning = false;
    this.stops++;
    this.close();
  }

  /** The tab became visible or hidden. */
  visibilityChanged(): void {
    if (!this.isRunning) return;
    this.close();
    if (!this.parts.isVisible()) return;
    void this.fetchNow();
    this.openIn(0);
  }

  async fetchNow(): Promise<void> {
    const { stops } = this;
    const state = await this.parts.fetchState();
    // If it was stopped meanwhile, and possibly restarted, this state may be outdated.
    if (state && this.isRunning && this.stops === stops) this.parts.onState(state);
  }

  /** Fetches the state once after the session has expired, since its form can no longer pay. Ignores an expiry in the past. */
  fetchAtExpiry(expiresAt: string, now: Date): void {
    const untilExpiry = Date.parse(expiresAt) - now.getTime() + EXPIRY_MARGIN_MS;
    if (untilExpiry > 0 && untilExpiry < MAX_TIMER_MS) setTimeout(() => void this.fetchNow(), untilExpiry);
  }

  private openIn(delayMs: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), delayMs);
  }

  private open(): void {
    if (!this.isRunning || !this.parts.isVisible()) return;
    this.close();
    this.closeStream = this.parts.stream(
      (state) => {
        if (this.isRunning) this.parts.onState(state);
      },
      (isOver) => {
        if (!this.isRunning || !isOver) return;
        this.close();
        void this.fetchNow();
        this.openIn(RETRY_MS);
      },
    );
  }

  private close(): void {
    clearTimeout(this.timer);
    this.closeStream?.();
    this.closeStream = undefined;
  }
}
