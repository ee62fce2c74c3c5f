import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, QueryRunner } from 'typeorm';

export interface Updates {
  readonly all: number;
  /** Heap-only tuple updates: the new row version is on the same page, and no index was written. */
  readonly hot: number;
}

/** Set while `work` runs, and in its calls: not in the service's own jobs. */
const runnerOfWork = new AsyncLocalStorage<QueryRunner>();

/**
 * Counts the updates of rows of `table` by the statements that `work` sends through this data source. They share a
 * transaction, which is committed: PostgreSQL does not reuse their space meanwhile.
 */
export async function updatesOf(dataSource: DataSource, table: string, work: () => Promise<unknown>): Promise<Updates> {
  const runner = dataSource.createQueryRunner();
  const query = dataSource.query.bind(dataSource);
  dataSource.query = ((text: string, ...rest: []) =>
    runnerOfWork.getStore()?.query(text, ...rest) ?? query(text, ...rest)) as DataSource['query'];
  try {
    await runner.startTransaction();
    const before = await soFar(runner, table);
    await runnerOfWork.run(runner, work);
    const after = await soFar(runner, table);
    await runner.commitTransaction();
    return { all: after.all - before.all, hot: after.hot - before.hot };
  } finally {
    dataSource.query = query;
    await runner.release();
  }
}

/** By this connection since its last report to the statistics, which it sends between transactions. */
async function soFar(runner: QueryRunner, table: string): Promise<Updates> {
  const [updates] = (await runner.query(
    `SELECT n_tup_upd AS all, n_tup_hot_upd AS hot FROM pg_stat_xact_user_tables WHERE relid = $1::regclass`,
    [table],
  )) as Updates[];
  return updates!;
}
