import type { Clock } from '@svc/kernel';
import { inTransaction, sqlState } from '@svc/persistence';
import type { DataSource } from 'typeorm';

/** The current month and the next two, so that each month begins with its partition. */
const MONTHS = 3;
/** Longer than other statements may take: rows of the default partition are moved. */
const STATEMENT_TIMEOUT_MS = 300_000;
/** Longest time that other statements wait behind this one, which waits for transactions that read the default partition. */
const LOCK_TIMEOUT_MS = 2_000;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Creates the missing partitions of event log and inbox. To be called before any event is logged: a row without its month's
 * partition goes to the default one, and has to be moved later.
 *
 * @returns false when a long transaction, such as a backup's, blocked it; to be called again later
 */
export async function ensureMonthPartitions(dataSource: DataSource, clock: Clock): Promise<boolean> {
  const firstDay = clock.nowISO().slice(0, 10);
  try {
    // One after the other: a transaction that writes to both tables could otherwise deadlock with this one.
    for (const table of ['event_log', 'inbox'])
      await inTransaction(dataSource, async (tx) => {
        await tx.query(`SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
        await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
        await tx.query(`SELECT ensure_month_partitions($1, $2::date, ${MONTHS})`, [table, firstDay]);
      });
    return true;
  } catch (error) {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}
