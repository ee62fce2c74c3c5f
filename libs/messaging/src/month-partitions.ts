import type { Clock } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import type { DataSource } from 'typeorm';

/** This month's and the next two's, so that a month begins with its partition. */
const MONTHS = 3;
/** Longer than other statements may take: what is in the default partition is moved. */
const MOVE_MS_MAX = 300_000;

/**
 * Makes the partitions of event log and inbox that are missing. To be called before anything is logged: a row without its
 * month's partition goes to the default one, and has to be moved, while nothing can be logged, when the partition is made.
 */
export async function ensureMonthPartitions(dataSource: DataSource, clock: Clock): Promise<void> {
  await inTransaction(dataSource, async (tx) => {
    await tx.query(`SET LOCAL statement_timeout = ${MOVE_MS_MAX}`);
    await tx.query(
      `SELECT ensure_month_partitions(parent, $1::date, ${MONTHS}) FROM unnest(ARRAY['event_log', 'inbox']) AS parent`,
      [clock.nowISO().slice(0, 10)],
    );
  });
}
