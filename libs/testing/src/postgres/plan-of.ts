import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource } from 'typeorm';

/**
 * True in `action` and the functions that it calls, but not in jobs of the service, which may send statements at the
 * same time.
 */
const isInAction = new AsyncLocalStorage<true>();

/**
 * PostgreSQL's plan for the last statement that `action` sends, or the last that contains `part`. It is a generic plan with the planner settings of
 * services, usually for empty tables. If a condition of the statement is not an index condition in the plan, PostgreSQL
 * checks it only after it has read the rows.
 */
export async function planOf(dataSource: DataSource, action: () => Promise<unknown>, part = ''): Promise<string> {
  const [text, parameters] = await findLastStatement(dataSource, action, part);
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query(`PREPARE planned_statement AS ${text}`);
    const values = parameters.map(toLiteral).join();
    const rows = (await runner.query(`EXPLAIN EXECUTE planned_statement${values === '' ? '' : `(${values})`}`)) as {
      'QUERY PLAN': string;
    }[];
    await runner.query('DEALLOCATE planned_statement');
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  } finally {
    await runner.release();
  }
}

async function findLastStatement(
  dataSource: DataSource,
  action: () => Promise<unknown>,
  part: string,
): Promise<[string, unknown[]]> {
  let last: [string, unknown[]] | undefined;
  const query = dataSource.query.bind(dataSource);
  dataSource.query = ((text: string, parameters: unknown[] = [], ...rest: []) => {
    if (isInAction.getStore() && text.includes(part)) last = [text, parameters];
    return query(text, parameters, ...rest);
  }) as DataSource['query'];
  try {
    await isInAction.run(true, action);
  } finally {
    dataSource.query = query;
  }
  if (!last) throw new Error('No statement was sent through this data source.');
  return last;
}

function toLiteral(value: unknown): string {
  if (value === null) return 'NULL';
  if (value instanceof Date) return `'${value.toISOString()}'`;
  if (typeof value === 'string' || typeof value === 'number') return `'${String(value).replaceAll("'", "''")}'`;
  if (Array.isArray(value)) return toLiteral(`{${value.map(toArrayElement).join()}}`);
  throw new Error(`A parameter of type ${typeof value} cannot be converted to a literal.`);
}

/** Converts an element of an array of numbers, text or jsonb. */
function toArrayElement(value: unknown): string {
  return JSON.stringify(typeof value === 'object' ? JSON.stringify(value) : value);
}
