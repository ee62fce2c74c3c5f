import { newTestDatabase, planOf, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { newDataSource } from './data-source.js';
import { useDefaultPlanner } from './planner-settings.js';
import { inTransaction, type Transaction } from './transaction.js';

const ROWS = 100_000;
const LOOK_UP = 'SELECT amount FROM ours WHERE reference = $1';
/** No index helps: it compares each payment of a day with all lines of a bank, by the text of the bank. */
const REPORT = `SELECT count(*) AS differences FROM ours LEFT JOIN theirs ON theirs.remark = ours.reference
                 WHERE ours.day = $1 AND theirs.amount IS DISTINCT FROM ours.amount`;

let database: TestDatabase;
/** Has one connection, which has planned both statements while the tables were empty. */
let dataSource: DataSource;

beforeAll(async () => {
  database = await newTestDatabase();
  dataSource = await newDataSource({ url: database.url, applicationName: 'planner test', poolMax: 1 }).initialize();
  await dataSource.query('CREATE TABLE ours (reference text PRIMARY KEY, day int NOT NULL, amount int NOT NULL)');
  await dataSource.query('CREATE TABLE theirs (line int PRIMARY KEY, remark text NOT NULL, amount int NOT NULL)');
  for (const table of ['ours', 'theirs']) await dataSource.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
  await dataSource.query(LOOK_UP, ['7']);
  await dataSource.query(REPORT, [1]);
  await dataSource.query(`INSERT INTO ours SELECT n, n % 2, 100 FROM generate_series(1, ${ROWS}) n`);
  await dataSource.query(`INSERT INTO theirs SELECT n, n, 100 + (n % 1000) / 999 FROM generate_series(1, ${ROWS}) n`);
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const settings = async (connection: DataSource | Transaction): Promise<string[]> => {
  const rows = await connection.query<{ set: string }[]>(
    `SELECT name || ' ' || setting AS set FROM pg_settings WHERE name ~ '^(plan_cache_mode|enable_(seqscan|hashjoin|mergejoin))$' ORDER BY 1`,
  );
  return rows.map(({ set }) => set);
};
const FOR_LOOK_UPS = [
  'enable_hashjoin off',
  'enable_mergejoin off',
  'enable_seqscan off',
  'plan_cache_mode force_generic_plan',
];

const joinsIn = (plan: string): string[] => plan.match(/Hash \w+ Join|Merge \w+ Join|Nested Loop/g) ?? [];

async function explain(tx: Transaction, statement: string): Promise<string> {
  const rows = await tx.query<{ 'QUERY PLAN': string }[]>(`EXPLAIN ${statement.replace('$1', '1')}`);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

test('a lookup uses its index, and a report is planned as a nested loop', async () => {
  const lookUp = await planOf(dataSource, () => dataSource.query(LOOK_UP, ['7']));
  expect(lookUp).toMatch(/^Index Scan using ours_pkey on ours .*\n\s+Index Cond: \(reference = \$1\)$/);
  const report = await inTransaction(dataSource, (tx) => explain(tx, REPORT));
  expect(joinsIn(report)).toEqual(['Nested Loop']);
});

test('a transaction with the default planner uses no nested loop for a join without an index, even if the statement was planned before', async () => {
  await inTransaction(dataSource, async (tx) => {
    await useDefaultPlanner(tx);
    expect(joinsIn(await explain(tx, REPORT))).toEqual([expect.stringMatching(/^Hash/)]);
    // As a nested loop it would compare 5 000 000 000 pairs, and be ended after 15 s.
    expect(await tx.query(REPORT, [1])).toEqual([{ differences: 100 }]);
  });
  expect(await runsOf(REPORT)).toEqual([{ generic_plans: 1, custom_plans: 1 }]);
});

test.each([
  ['a commit', () => Promise.resolve()],
  ['a rollback', () => Promise.reject(new Error('rolled back'))],
])('after %s the connection plans lookups as before', async (_, end) => {
  const [before] = await runsOf(LOOK_UP);
  let within: string[] = FOR_LOOK_UPS;
  const report = inTransaction(dataSource, async (tx) => {
    await useDefaultPlanner(tx);
    within = await settings(tx);
    await end();
  });
  await Promise.allSettled([report]);
  expect(within).not.toEqual(FOR_LOOK_UPS);
  expect(await settings(dataSource)).toEqual(FOR_LOOK_UPS);
  await dataSource.query(LOOK_UP, ['7']);
  expect(await runsOf(LOOK_UP)).toEqual([{ ...before, generic_plans: before!.generic_plans + 1 }]);
});

interface Runs {
  readonly generic_plans: number;
  readonly custom_plans: number;
}

function runsOf(statement: string): Promise<Runs[]> {
  return dataSource.query<Runs[]>(
    'SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement = $1',
    [statement],
  );
}

test('a data source with the default planner has the settings of the server', async () => {
  const migrations = newDataSource({ url: database.url, applicationName: 'migrations', planner: 'default' });
  await migrations.initialize();
  try {
    const rows = await migrations.query<unknown[]>(
      `SELECT name FROM pg_settings WHERE source = 'client' AND name ~ '^(plan_|enable_|jit)'`,
    );
    expect(rows).toEqual([]);
    expect(await settings(migrations)).not.toEqual(FOR_LOOK_UPS);
  } finally {
    await migrations.destroy();
  }
});
