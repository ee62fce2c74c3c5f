import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** Maximum wait for a lock that conflicts with readers and writers. It is short, because this lock delays them. */
const MAX_LOCK_WAIT_MS = 2_000;
/** Maximum wait for other replicas that create partitions. It may be long, because it blocks no reader or writer. */
const MAX_REPLICA_WAIT_MS = 120_000;

/** The partitions of the table payments. The methods are steps of one transaction. {@link lock} is the first step. */
@Injectable()
export class PaymentPartitionRepository {
  async lock(tx: EntityManager): Promise<void> {
    await tx.query(`SET LOCAL statement_timeout = ${MAX_REPLICA_WAIT_MS}`);
    await tx.query(`LOCK TABLE ONLY payments IN SHARE UPDATE EXCLUSIVE MODE`);
    await tx.query(`SET LOCAL lock_timeout = ${MAX_LOCK_WAIT_MS}`);
  }

  /** Creates the missing partitions of `count` months, from `firstMonth` on. */
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
