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

const EVERY_MS = 3_600_000;
/** Longest that readers and writers wait behind this job, which has to wait for those before it. */
const LOCK_MS_MAX = 2_000;
/** Longest that this job waits for its turn: replicas that start together all make partitions. Waiting holds up nobody. */
const TURN_MS_MAX = 120_000;

/**
 * Makes the partitions of the payments before they are needed, and drops those that no window reaches (M2). Any number of
 * replicas may run it at once: they take turns, and one that comes second finds nothing to do.
 */
@Injectable()
export class PaymentPartitions implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
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
      await tx.query(`SET LOCAL statement_timeout = ${TURN_MS_MAX}`);
      await tx.query(`LOCK TABLE ONLY payments IN SHARE UPDATE EXCLUSIVE MODE`);
      await tx.query(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}`);
      await tx.query(`SELECT ensure_month_partitions('payments', $1::date, $2)`, [
        first.toISOString().slice(0, 10),
        count,
      ]);
      const partitions = await tx.query<{ name: string }[]>(
        `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
          WHERE i.inhparent = 'payments'::regclass ORDER BY c.relname`,
      );
      for (const { name } of partitions.filter((partition) => isPastWindow(partition.name, now))) {
        await tx.query(`SELECT drop_payments_partition($1)`, [name]);
        this.log.info({ partition: name }, 'payments past the window were dropped');
      }
    });
  }
}
