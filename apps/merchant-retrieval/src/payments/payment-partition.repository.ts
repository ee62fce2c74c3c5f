import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** Longest that readers and writers wait behind this job, which has to wait for those before it. */
const LOCK_MS_MAX = 2_000;
/** Longest that this job waits for its turn: replicas that start together all make partitions. Waiting holds up nobody. */
const TURN_MS_MAX = 120_000;

/** The partitions of the payments. Each method is a step of one transaction, of which {@link lock} is the first. */
@Injectable()
export class PaymentPartitionRepository {
  async lock(tx: EntityManager): Promise<void> {
    await tx.query(`SET LOCAL statement_timeout = ${TURN_MS_MAX}`);
    await tx.query(`LOCK TABLE ONLY payments IN SHARE UPDATE EXCLUSIVE MODE`);
    await tx.query(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}`);
  }

  /** Makes those that are missing of `count` months. */
  async ensure(tx: EntityManager, firstMonth: Date, count: number): Promise<void> {
    await tx.query(`SELECT ensure_month_partitions('payments', $1::date, $2)`, [
      firstMonth.toISOString().slice(0, 10),
      count,
    ]);
  }

  /** Their names, the oldest first. */
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
