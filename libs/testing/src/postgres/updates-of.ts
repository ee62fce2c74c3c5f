import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource } from 'typeorm';
import { type OpenTransaction, openTransaction } from './open-transaction.js';

export interface Updates {
  readonly all: number;
  /** Number of heap-only tuple updates: the new row version is on the same page, and no index was written. */
  readonly hot: number;
}

/** The transaction is set in `action` and the functions that it calls, but not in jobs of the service. */
const transactionOfAction = new AsyncLocalStorage<OpenTransaction>();

/**
 * Counts the row updates in `table` by the statements that `action` sends through this data source. The statements run
 * in one transaction, which is committed, so that PostgreSQL does not reuse the space of old row versions meanwhile.
 */
export async function updatesOf(
  dataSource: DataSource,
  table: string,
  action: () => Promise<unknown>,
): Promise<Updates> {
  await using transaction = await openTransaction(dataSource);
  const query = dataSource.query.bind(dataSource);
  dataSource.query = ((text: string, ...rest: []) =>
    transactionOfAction.getStore()?.query(text, ...rest) ?? query(text, ...rest)) as DataSource['query'];
  try {
    const before = await countUpdates(transaction, table);
    await transactionOfAction.run(transaction, action);
    const after = await countUpdates(transaction, table);
    await transaction.commit();
    return { all: after.all - before.all, hot: after.hot - before.hot };
  } finally {
    dataSource.query = query;
  }
}

/** Reads the counts of the current transaction. */
async function countUpdates(transaction: OpenTransaction, table: string): Promise<Updates> {
  const [updates] = await transaction.query<Updates[]>(
    `SELECT n_tup_upd AS all, n_tup_hot_upd AS hot FROM pg_stat_xact_user_tables WHERE relid = $1::regclass`,
    [table],
  );
  return updates!;
}
