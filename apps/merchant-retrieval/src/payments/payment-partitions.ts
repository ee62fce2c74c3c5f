import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { isPastWindow, neededMonths } from './months.js';
import { PaymentPartitionRepository } from './payment-partition.repository.js';

const EVERY_MS = 3_600_000;

/**
 * Makes the partitions of the payments before they are needed, and drops those that no window reaches (M2). Any number of
 * replicas may run it at once: they take turns, and one that comes second finds nothing to do.
 */
@Injectable()
export class PaymentPartitions implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(PaymentPartitionRepository) private readonly partitions: PaymentPartitionRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.job = new PeriodicJob('partitions of payments', EVERY_MS, log, async () => {
      await this.runOnce();
      return false;
    });
  }

  /** Before the first event, which would find no partition. */
  async onModuleInit(): Promise<void> {
    await this.runOnce();
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  async runOnce(): Promise<void> {
    const now = this.clock.now();
    const { first, count } = neededMonths(now);
    await inTransaction(this.dataSource, async (tx) => {
      await this.partitions.lock(tx);
      await this.partitions.ensure(tx, first, count);
      for (const name of await this.partitions.list(tx)) {
        if (!isPastWindow(name, now)) continue;
        await this.partitions.drop(tx, name);
        this.log.info({ partition: name }, 'payments past the window were dropped');
      }
    });
  }
}
