import type { MessagingLog } from './log.js';
import { Signal } from './signal.js';

/** A job that runs repeatedly until it is stopped: at once while there is more to do, otherwise after a pause. */
export class PeriodicJob {
  private readonly signal = new Signal();
  private stopping = false;
  private running: Promise<void> | undefined;

  /** @param runOnce resolves to true when there is more to do; its errors are logged, and it runs again */
  constructor(
    private readonly name: string,
    private readonly pauseMs: number,
    private readonly log: MessagingLog,
    private readonly runOnce: () => Promise<boolean>,
  ) {}

  start(): void {
    this.running = this.run();
  }

  /** Runs after the current run, without the pause. */
  trigger(): void {
    this.signal.nudge();
  }

  /** Resolves when the current run has ended. */
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
