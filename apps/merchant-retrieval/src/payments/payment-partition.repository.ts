import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** Readers and writers queue behind this job while it waits for its locks, at most so long. */
const MAX_LOCK_WAIT_MS = 2_000;
/** Wait for the other replicas that create partitions at their start. This wait blocks no reader or writer. */
const MAX_REPLICA_WAIT_MS = 120_000;

/** The partitions of the payments. Each method is a step of one transaction, of which {@link lock} is the first. */
@Injectable()
export class PaymentPartitionRepository {
  async lock(tx: EntityManager): Promise<void> {
    await tx.query(`SET LOCAL statement_timeout = ${MAX_REPLICA_WAIT_MS}`);
    await tx.query(`LOCK TABLE ONLY payments IN SHARE UPDATE EXCLUSIVE MODE`);
    await tx.query(`SET LOCAL lock_timeout = ${MAX_LOCK_WAIT_MS}`);
  }

  /** Creates the missing partitions of `count` months. */
  async ensure(tx: EntityManager, firstMonth: Date, count: number): Promise<void> {
    await tx.query(`SELECT ensure_month_partitions('payments', $1::date, $2)`, [
      firstMonth.toISOString().slice(0, 10),
      count,
    ]);
  }

  /** Names of the partitions, oldest first. */
  async list(tx: EntityManager): Promise<string[]> {
    const partitions = await tx.query<{ name: string }[]>(
      `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
          WHERE i.inhparent = 'payments'::regclass ORDER BY c.relname`,
    );
    return partitions.map(({ name }) => name);
  }

  async drop(tx: EntityManager, name: string): Promise<void> {
    await tx.query(`SELECT drop_payments_partition($1)`, [name]);
  }
}
