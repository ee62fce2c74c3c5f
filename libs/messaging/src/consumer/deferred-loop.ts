import type { MessagingLog } from '../log.js';
import { isPowerOfTwo } from '../numbers.js';
import { Signal } from '../signal.js';

const MAX_PAUSE_MS = 30_000;
/** Pause before a blocked event is retried. */
const RETRY_PAUSE_MS = 1_000;

/**
 * Calls `step` repeatedly until `step` returns 0. After a 0 it waits for `pollMs`, or until a second after a nudge,
 * before it calls `step` again.
 */
export class DeferredLoop {
  private readonly endSignal = new Signal();
  private readonly retrySignal = new Signal();
  private isEnding = false;
  private running: Promise<void> | undefined;

  constructor(
    private readonly step: () => Promise<number>,
    private readonly log: MessagingLog,
    private readonly pollMs: number,
  ) {}

  /** Call this when there are events to retry. */
  nudge(): void {
    this.retrySignal.nudge();
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Resolves when the current batch is handled. */
  async close(): Promise<void> {
    this.isEnding = true;
    this.retrySignal.nudge();
    this.endSignal.nudge();
    await this.running;
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (!this.isEnding) {
      try {
        const handled = await this.step();
        failures = 0;
        if (handled > 0) continue;
      } catch (error) {
        if (isPowerOfTwo(++failures))
          this.log.warn({ err: error, failures }, 'consumer: deferred events cannot be handled now');
      }
      const pauseMs = failures > 0 ? Math.min(RETRY_PAUSE_MS * 2 ** Math.min(failures, 10), MAX_PAUSE_MS) : this.pollMs;
      // After a nudge the loop waits a second, so that `step` runs at most once a second, even if nudges are frequent.
      if (await this.retrySignal.wait(pauseMs)) await this.endSignal.wait(RETRY_PAUSE_MS);
    }
  }
}
