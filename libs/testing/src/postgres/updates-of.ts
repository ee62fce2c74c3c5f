import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, QueryRunner } from 'typeorm';

export interface Updates {
  readonly all: number;
  /** Number of heap-only tuple updates: the new row version is on the same page, and no index was written. */
  readonly hot: number;
}

/** The runner is set in `action` and the functions that it calls, but not in jobs of the service. */
const runnerOfAction = new AsyncLocalStorage<QueryRunner>();

/**
 * Counts the row updates in `table` by the statements that `action` sends through this data source. The statements run
 * in one transaction, which is committed, so that PostgreSQL does not reuse the space of old row versions meanwhile.
 */
export async function updatesOf(
  dataSource: DataSource,
  table: string,
  action: () => Promise<unknown>,
): Promise<Updates> {
  const runner = dataSource.createQueryRunner();
  const query = dataSource.query.bind(dataSource);
  dataSource.query = ((text: string, ...rest: []) =>
    runnerOfAction.getStore()?.query(text, ...rest) ?? query(text, ...rest)) as DataSource['query'];
  try {
    await runner.startTransaction();
    const before = await countUpdates(runner, table);
    await runnerOfAction.run(runner, action);
    const after = await countUpdates(runner, table);
    await runner.commitTransaction();
    return { all: after.all - before.all, hot: after.hot - before.hot };
  } finally {
    dataSource.query = query;
    await runner.release();
  }
}

/** Reads the counts of the current transaction. */
async function countUpdates(runner: QueryRunner, table: string): Promise<Updates> {
  const [updates] = (await runner.query(
    `SELECT n_tup_upd AS all, n_tup_hot_upd AS hot FROM pg_stat_xact_user_tables WHERE relid = $1::regclass`,
    [table],
  )) as Updates[];
  return updates!;
}
