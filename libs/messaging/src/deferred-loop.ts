import type { MessagingLog } from './log.js';
import { isPowerOfTwo } from './numbers.js';
import { Signal } from './signal.js';

/** How long an event waits that a replica of another release kept for this one. */
const POLL_MS = 1_000;
const PAUSE_MS_MAX = 30_000;

/** Calls `step` until it returns 0, and again after a second. */
export class DeferredLoop {
  private readonly ended = new Signal();
  private isEnding = false;
  private running: Promise<void> | undefined;

  constructor(
    private readonly step: () => Promise<number>,
    private readonly log: MessagingLog,
  ) {}

  start(): void {
    this.running ??= this.run();
  }

  /** Resolves when the batch under way is handled. */
  async close(): Promise<void> {
    this.isEnding = true;
    this.ended.nudge();
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
      await this.ended.wait(Math.min(POLL_MS * 2 ** Math.min(failures, 10), PAUSE_MS_MAX));
    }
  }
}
