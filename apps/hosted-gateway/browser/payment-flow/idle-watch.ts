/**
 * Watches the session while its form waits for the payer: paid with a phone or through a partner, cancelled, or expired, a
 * form that can no longer pay should not be filled in. The server tells; what a tab nobody looks at would be told of it asks
 * for when it is looked at again, because a browser has few connections to a host for all its tabs.
 */
import type { SessionState } from './payment-flow.js';

/** The page comes first; nobody scans its code and pays in less. */
export const WATCH_AFTER_MS = 1_000;
/** When another stream is tried, where the server has no room for one; the state is asked for as often. */
export const TRY_AGAIN_MS = 10_000;
/** The server's clock and the browser's may differ a little. */
export const LOOK_AFTER_EXPIRY_MS = 1_000;
/** A timer beyond 2^31 ms fires at once. */
export const LOOK_AHEAD_MS_MAX = 86_400_000;

export interface IdleWatchParts {
  readonly isVisible: () => boolean;
  readonly ask: () => Promise<SessionState | undefined>;
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

  /** Somebody else watches from now on, for example because Pay was pressed. */
  stop(): void {
    this.isRunning = false;
    this.stops++;
    this.close();
  }

  /** The tab is looked at again, or no longer. */
  visibilityChanged(): void {
    if (!this.isRunning) return;
    this.close();
    if (!this.parts.isVisible()) return;
    void this.look();
    this.openIn(0);
  }

  async look(): Promise<void> {
    const { stops } = this;
    const state = await this.parts.ask();
    // Stopped meanwhile, and perhaps started again: the answer is older than what the page has learnt since.
    if (state && this.isRunning && this.stops === stops) this.parts.onState(state);
  }

  /** Looks once after the session has expired: its form can no longer pay. Does nothing for a time that is over. */
  lookAtExpiry(expiresAt: string, now: Date): void {
    const untilExpiry = Date.parse(expiresAt) - now.getTime() + LOOK_AFTER_EXPIRY_MS;
    if (untilExpiry > 0 && untilExpiry < LOOK_AHEAD_MS_MAX) setTimeout(() => void this.look(), untilExpiry);
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
        void this.look();
        this.openIn(TRY_AGAIN_MS);
      },
    );
  }

  private close(): void {
    clearTimeout(this.timer);
    this.closeStream?.();
    this.closeStream = undefined;
  }
}
