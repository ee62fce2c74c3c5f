import type { MessagingLog } from './log.js';
import { Signal } from './signal.js';

/** A job that runs again and again until it is stopped: at once while there is more to do, otherwise after a pause. */
export class PeriodicJob {
  private readonly signal = new Signal();
  private stopping = false;
  private running: Promise<void> | undefined;

  /** @param runOnce resolves with whether there is more to do; what it throws is logged, and it runs again */
  constructor(
    private readonly name: string,
    private readonly pauseMs: number,
    private readonly log: MessagingLog,
    private readonly runOnce: () => Promise<boolean>,
  ) {}

  start(): void {
    this.running = this.run();
  }

  /** Runs as soon as what is under way is over, instead of after the pause. */
  soon(): void {
    this.signal.nudge();
  }

  /** Resolves when the run under way is over. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.signal.nudge();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      try {
        while (!this.stopping && (await this.runOnce()));
      } catch (error) {
        this.log.warn({ err: error }, `${this.name} failed, will be retried`);
      }
      if (!this.stopping) await this.signal.wait(this.pauseMs);
    }
  }
}
