import { PeriodicJob } from '@svc/messaging';
import type { ServiceLog } from '@svc/service';
import type { Acquirers } from '../acquirers.js';

/**
 * A periodic job with calls to acquirers. It runs for each acquirer separately, so that an acquirer that does not respond
 * delays only its own work.
 */
export class AcquirerJobs {
  private readonly jobs: readonly PeriodicJob[];

  /** @param runStep runs the job once for this acquirer. Resolves to true when there is more work */
  constructor(
    name: string,
    pauseMs: number,
    log: ServiceLog,
    acquirers: Pick<Acquirers, 'names'>,
    runStep: (acquirer: string) => Promise<boolean>,
  ) {
    this.jobs = acquirers.names.map(
      (acquirer) => new PeriodicJob(`${name} of ${acquirer}`, pauseMs, log, () => runStep(acquirer)),
    );
  }

  start(): void {
    for (const job of this.jobs) job.start();
  }

  /** Starts the next runs without the pause. */
  trigger(): void {
    for (const job of this.jobs) job.trigger();
  }

  /** Resolves when the current runs have ended. */
  async stop(): Promise<void> {
    await Promise.all(this.jobs.map((job) => job.stop()));
  }
}
