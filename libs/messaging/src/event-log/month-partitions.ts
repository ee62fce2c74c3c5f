import type { Clock } from '@svc/kernel';
import { inTransaction, sqlState } from '@svc/persistence';
import type { DataSource } from 'typeorm';

/** This month's and the next two's, so that a month begins with its partition. */
const MONTHS = 3;
/** Longer than other statements may take: what is in the default partition is moved. */
const MOVE_MS_MAX = 300_000;
/** Longest that others wait behind this, which has to wait for transactions that read the default partition. */
const LOCK_MS_MAX = 2_000;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Makes the partitions of event log and inbox that are missing. To be called before anything is logged: a row without its
 * month's partition goes to the default one, and has to be moved when the partition is made.
 *
 * @returns false when a long transaction, such as a backup's, was in the way; to be called again later
 */
export async function ensureMonthPartitions(dataSource: DataSource, clock: Clock): Promise<boolean> {
  const firstDay = clock.nowISO().slice(0, 10);
  try {
    // One after the other: whoever writes to both in one transaction must not meet this one half-way.
    for (const table of ['event_log', 'inbox'])
      await inTransaction(dataSource, async (tx) => {
        await tx.query(`SET LOCAL statement_timeout = ${MOVE_MS_MAX}`);
        await tx.query(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}`);
        await tx.query(`SELECT ensure_month_partitions($1, $2::date, ${MONTHS})`, [table, firstDay]);
      });
    return true;
  } catch (error) {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}
