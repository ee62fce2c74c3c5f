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
import { isOlderThanWindow, requiredMonths } from './months.js';
import { PaymentPartitionRepository } from './payment-partition.repository.js';

const INTERVAL_MS = 3_600_000;

/**
 * Creates the partitions of the table payments in advance, and drops partitions that are older than three months (M2).
 * Replicas may run this job concurrently, because a lock makes them run one after the other. The replicas that run
 * later find nothing to do.
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
    this.job = new PeriodicJob('partitions of payments', INTERVAL_MS, log, async () => {
      await this.runStep();
      return false;
    });
  }

  /** Runs before the service consumes events, because a payment needs its partition. */
  async onModuleInit(): Promise<void> {
    await this.runStep();
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  async runStep(): Promise<void> {
    const now = this.clock.now();
    const { first, count } = requiredMonths(now);
    await inTransaction(this.dataSource, async (tx) => {
      await this.partitions.lock(tx);
      await this.partitions.ensure(tx, first, count);
      for (const name of await this.partitions.list(tx)) {
        if (!isOlderThanWindow(name, now)) continue;
        await this.partitions.drop(tx, name);
        this.log.info({ partition: name }, 'dropped a partition of payments that are older than three months');
      }
    });
  }
}
