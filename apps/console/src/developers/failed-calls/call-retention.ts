import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { deleteFailedCallsBefore } from './failed-call.repository.js';

/** Three days. */
export const CALL_RETENTION_MS = 3 * 24 * 3_600_000;
const INTERVAL_MS = 60_000;
const BATCH_SIZE = 1_000;

/** Deletes failed calls after three days. Two replicas may run it at the same time. */
@Injectable()
export class CallRetention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) log: ServiceLog,
  ) {
    this.job = new PeriodicJob('removal of old failed calls', INTERVAL_MS, log, () => this.runStep());
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Deletes one batch. Returns whether there may be more. */
  async runStep(): Promise<boolean> {
    const time = this.clock.later(-CALL_RETENTION_MS);
    return (await deleteFailedCallsBefore(this.dataSource.manager, time, BATCH_SIZE)) === BATCH_SIZE;
  }
}
