import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource } from 'typeorm';

/** Set while `work` runs, and in its calls: not in the service's own jobs, which send statements meanwhile. */
const withinWork = new AsyncLocalStorage<true>();

/**
 * PostgreSQL's plan for the last statement that `work` sends: with the planner settings of services, as a generic plan and, in a
 * test, for empty tables. A condition that is not in an index condition of the plan is applied after the rows are read.
 */
export async function planOf(dataSource: DataSource, work: () => Promise<unknown>): Promise<string> {
  const [text, parameters] = await lastSentBy(dataSource, work);
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query(`PREPARE looked_at AS ${text}`);
    const values = parameters.map(literalOf).join();
    const rows = (await runner.query(`EXPLAIN EXECUTE looked_at${values === '' ? '' : `(${values})`}`)) as {
      'QUERY PLAN': string;
    }[];
    await runner.query('DEALLOCATE looked_at');
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  } finally {
    await runner.release();
  }
}

async function lastSentBy(dataSource: DataSource, work: () => Promise<unknown>): Promise<[string, unknown[]]> {
  let last: [string, unknown[]] | undefined;
  const query = dataSource.query.bind(dataSource);
  dataSource.query = ((text: string, parameters: unknown[] = [], ...rest: []) => {
    if (withinWork.getStore()) last = [text, parameters];
    return query(text, parameters, ...rest);
  }) as DataSource['query'];
  try {
    await withinWork.run(true, work);
  } finally {
    dataSource.query = query;
  }
  if (!last) throw new Error('No statement was sent through this data source.');
  return last;
}

function literalOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (value instanceof Date) return `'${value.toISOString()}'`;
  if (typeof value === 'string' || typeof value === 'number') return `'${String(value).replaceAll("'", "''")}'`;
  if (Array.isArray(value)) return literalOf(`{${value.map(elementOf).join()}}`);
  throw new Error(`A parameter of type ${typeof value} is not written out here.`);
}

/** For an array of numbers, of text or of jsonb. */
function elementOf(value: unknown): string {
  return JSON.stringify(typeof value === 'object' ? JSON.stringify(value) : value);
}
