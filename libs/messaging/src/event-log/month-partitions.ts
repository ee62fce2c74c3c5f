import type { Clock } from '@svc/kernel';
import { inTransaction, sqlState } from '@svc/persistence';
import type { DataSource } from 'typeorm';

/** The current month and the next two months, so that each month has a partition before the month begins. */
const MONTHS = 3;
/** This timeout is longer than for other statements, because rows of the default partition are moved. */
const STATEMENT_TIMEOUT_MS = 300_000;
/**
 * Maximum wait for transactions that read the default partition. It is short, because during this wait PostgreSQL also
 * delays other statements on the table.
 */
const LOCK_TIMEOUT_MS = 2_000;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Creates the missing partitions of event log and inbox. Call this function before any event is logged, because a row
 * whose month has no partition is stored in the default partition and must be moved later.
 *
 * @returns false when a long transaction, such as that of a backup, blocked the creation. Call the function again
 * later.
 */
export async function ensureMonthPartitions(dataSource: DataSource, clock: Clock): Promise<boolean> {
  const firstDay = clock.nowISO().slice(0, 10);
  try {
    // Each table gets a separate transaction. One transaction for both tables could deadlock with another transaction
    // that writes to both tables.
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
