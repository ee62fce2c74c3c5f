import { newTestDatabase, planOf, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { newDataSource } from './data-source.js';
import { useDefaultPlanner } from './planner-settings.js';
import { inTransaction, type Transaction } from './transaction.js';

const ROWS = 100_000;
const LOOK_UP = 'SELECT amount FROM payments WHERE reference = $1';
/**
 * A report without a usable index: it joins the payments of a day with the lines of a bank statement by their remark.
 */
const REPORT = `SELECT count(*) AS differences FROM payments LEFT JOIN bank_lines ON bank_lines.remark = payments.reference
                 WHERE payments.day = $1 AND bank_lines.amount IS DISTINCT FROM payments.amount`;

let database: TestDatabase;
/** This data source has one connection, which has planned both statements while the tables were empty. */
let dataSource: DataSource;

beforeAll(async () => {
  database = await newTestDatabase();
  dataSource = await newDataSource({
    url: database.url,
    applicationName: 'planner test',
    maxConnections: 1,
  }).initialize();
  await dataSource.query('CREATE TABLE payments (reference text PRIMARY KEY, day int NOT NULL, amount int NOT NULL)');
  await dataSource.query('CREATE TABLE bank_lines (line int PRIMARY KEY, remark text NOT NULL, amount int NOT NULL)');
  await dataSource.query(LOOK_UP, ['7']);
  await dataSource.query(REPORT, [1]);
  await dataSource.query(`INSERT INTO payments SELECT n, n % 2, 100 FROM generate_series(1, ${ROWS}) n`);
  // Every thousandth bank line has another amount than its payment.
  await dataSource.query(
    `INSERT INTO bank_lines SELECT n, n, 100 + (n % 1000) / 999 FROM generate_series(1, ${ROWS}) n`,
  );
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const readPlannerSettings = async (connection: DataSource | Transaction): Promise<string[]> => {
  const rows = await connection.query<{ set: string }[]>(
    `SELECT name || ' ' || setting AS set FROM pg_settings WHERE name ~ '^(plan_cache_mode|enable_(seqscan|hashjoin|mergejoin))$' ORDER BY 1`,
  );
  return rows.map(({ set }) => set);
};
const LOOK_UP_SETTINGS = [
  'enable_hashjoin off',
  'enable_mergejoin off',
  'enable_seqscan off',
  'plan_cache_mode force_generic_plan',
];

const findJoins = (plan: string): string[] => plan.match(/Hash \w+ Join|Merge \w+ Join|Nested Loop/g) ?? [];

async function explain(tx: Transaction, statement: string): Promise<string> {
  const rows = await tx.query<{ 'QUERY PLAN': string }[]>(`EXPLAIN ${statement.replace('$1', '1')}`);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

test('with the settings for lookups, a lookup uses its index, and a report uses a nested loop', async () => {
  const lookUp = await planOf(dataSource, () => dataSource.query(LOOK_UP, ['7']));
  expect(lookUp).toMatch(/^Index Scan using payments_pkey on payments .*\n\s+Index Cond: \(reference = \$1\)$/);
  const report = await inTransaction(dataSource, (tx) => explain(tx, REPORT));
  expect(findJoins(report)).toEqual(['Nested Loop']);
});

test('with the default planner, a report uses a hash join, even if the connection has planned the report before', async () => {
  await inTransaction(dataSource, async (tx) => {
    await useDefaultPlanner(tx);
    expect(findJoins(await explain(tx, REPORT))).toEqual([expect.stringMatching(/^Hash/)]);
    // A nested loop would compare 5 000 000 000 pairs of rows, and the statement timeout would end it after 15 s.
    expect(await tx.query(REPORT, [1])).toEqual([{ differences: 100 }]);
  });
  expect(await countPlans(REPORT)).toEqual([{ generic_plans: 1, custom_plans: 1 }]);
});

test.each([
  ['a commit', () => Promise.resolve()],
  ['a rollback', () => Promise.reject(new Error('rolled back'))],
])(
  'after %s of a transaction with the default planner, the connection has the settings for lookups again',
  async (_, endTransaction) => {
    const [countsBefore] = await countPlans(LOOK_UP);
    let settingsInTransaction: string[] = LOOK_UP_SETTINGS;
    const report = inTransaction(dataSource, async (tx) => {
      await useDefaultPlanner(tx);
      settingsInTransaction = await readPlannerSettings(tx);
      await endTransaction();
    });
    await Promise.allSettled([report]);
    expect(settingsInTransaction).not.toEqual(LOOK_UP_SETTINGS);
    expect(await readPlannerSettings(dataSource)).toEqual(LOOK_UP_SETTINGS);
    await dataSource.query(LOOK_UP, ['7']);
    expect(await countPlans(LOOK_UP)).toEqual([{ ...countsBefore, generic_plans: countsBefore!.generic_plans + 1 }]);
  },
);

interface PlanCounts {
  readonly generic_plans: number;
  readonly custom_plans: number;
}

function countPlans(statement: string): Promise<PlanCounts[]> {
  return dataSource.query<PlanCounts[]>(
    'SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement = $1',
    [statement],
  );
}

test('a data source for migrations has the planner settings of the server', async () => {
  const migrations = newDataSource({ url: database.url, applicationName: 'migrations', purpose: 'migrations' });
  await migrations.initialize();
  try {
    const rows = await migrations.query<unknown[]>(
      `SELECT name FROM pg_settings WHERE source = 'client' AND name ~ '^(plan_|enable_|jit)'`,
    );
    expect(rows).toEqual([]);
    expect(await readPlannerSettings(migrations)).not.toEqual(LOOK_UP_SETTINGS);
  } finally {
    await migrations.destroy();
  }
});
