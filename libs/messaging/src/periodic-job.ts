import type { MessagingLog } from './log.js';
import { Signal } from './signal.js';

/**
 * Runs a job repeatedly until it is stopped. There is a pause between two runs, unless the last run has reported more
 * work.
 */
export class PeriodicJob {
  private readonly signal = new Signal();
  private stopping = false;
  private running: Promise<void> | undefined;

  /**
   * @param runStep resolves to true when there is more work. When it throws, the error is logged and the job runs again
   * after the pause.
   */
  constructor(
    private readonly name: string,
    private readonly pauseMs: number,
    private readonly log: MessagingLog,
    private readonly runStep: () => Promise<boolean>,
  ) {}

  start(): void {
    this.running = this.run();
  }

  /** Starts the next run without the pause. If a run is in progress, the next run starts after it. */
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
        while (!this.stopping && (await this.runStep()));
      } catch (error) {
        this.log.warn({ err: error }, `${this.name} failed, will be retried`);
      }
      if (!this.stopping) await this.signal.wait(this.pauseMs);
    }
  }
}
