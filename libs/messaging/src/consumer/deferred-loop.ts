import type { MessagingLog } from '../log.js';
import { isPowerOfTwo } from '../numbers.js';
import { Signal } from '../signal.js';

const PAUSE_MS_MAX = 30_000;
/** What was just blocked is tried again after this. */
const NUDGED_MS = 1_000;

/** Calls `step` until it returns 0, and again after the poll; a second later while there is something to be tried again. */
export class DeferredLoop {
  private readonly ended = new Signal();
  private readonly work = new Signal();
  private isEnding = false;
  private running: Promise<void> | undefined;

  constructor(
    private readonly step: () => Promise<number>,
    private readonly log: MessagingLog,
    private readonly pollMs: number,
  ) {}

  /** There is something to be tried again. */
  nudge(): void {
    this.work.nudge();
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Resolves when the batch under way is handled. */
  async close(): Promise<void> {
    this.isEnding = true;
    this.work.nudge();
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
      const pauseMs = failures > 0 ? Math.min(NUDGED_MS * 2 ** Math.min(failures, 10), PAUSE_MS_MAX) : this.pollMs;
      // However often it is nudged, it looks no more than once a second.
      if (await this.work.wait(pauseMs)) await this.ended.wait(NUDGED_MS);
    }
  }
}
