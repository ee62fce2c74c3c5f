import { newTestDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource, EntityManager } from 'typeorm';
import { newDataSource } from './data-source.js';
import { inTransaction } from './transaction.js';

let database: TestDatabase;
let dataSource: DataSource;
beforeAll(async () => {
  database = await newTestDatabase();
  dataSource = await newDataSource({ url: database.url, applicationName: 'test', maxConnections: 1 }).initialize();
  await dataSource.query('CREATE TABLE written (run integer)');
});
beforeEach(() => dataSource.query('TRUNCATE written'));
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const failWith = (tx: EntityManager, sqlState: string): Promise<unknown> =>
  tx.query(`DO $$ BEGIN RAISE EXCEPTION 'provoked' USING ERRCODE = '${sqlState}'; END $$`);
/** Runs a transaction that writes a row. Its first `failures` runs fail after the write. */
async function runTransaction(failures: number, fail: (tx: EntityManager) => Promise<unknown>) {
  let runs = 0;
  const outcome = await inTransaction(dataSource, async (tx) => {
    await tx.query('INSERT INTO written VALUES ($1)', [++runs]);
    if (runs <= failures) await fail(tx);
    return 'done';
  }).catch((error: unknown) => error);
  return { runs, outcome, written: await dataSource.query<unknown[]>('SELECT run FROM written') };
}

test.each(['40001', '40P01'])(
  'a transaction that fails with SQLSTATE %s is repeated from its beginning',
  async (sqlState) => {
    const { runs, outcome, written } = await runTransaction(3, (tx) => failWith(tx, sqlState));
    expect([runs, outcome, written]).toEqual([4, 'done', [{ run: 4 }]]);
  },
);

test('a transaction is repeated if it writes a row to the default partition while the partition for the row is attached', async () => {
  const insertIntoWrongPartition = (tx: EntityManager) => tx.query('INSERT INTO parts_default VALUES (1)');
  await dataSource.query(
    'CREATE TABLE parts (part integer CONSTRAINT parts_part CHECK (part < 9)) PARTITION BY LIST (part)',
  );
  await dataSource.query('CREATE TABLE parts_default PARTITION OF parts DEFAULT');
  await dataSource.query('CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1)');
  const { runs, outcome, written } = await runTransaction(1, insertIntoWrongPartition);
  expect([runs, outcome, written]).toEqual([2, 'done', [{ run: 2 }]]);
  const checkViolation = await runTransaction(1, (tx) => tx.query('INSERT INTO parts VALUES (9)'));
  expect([checkViolation.runs, checkViolation.outcome]).toEqual([
    1,
    expect.objectContaining({ constraint: 'parts_part' }),
  ]);
});

test('a transaction is not repeated after its fourth failure', async () => {
  const { runs, outcome, written } = await runTransaction(4, (tx) => failWith(tx, '40001'));
  expect([runs, outcome, written]).toEqual([4, expect.objectContaining({ code: '40001' }), []]);
});

test.each([
  ['a violated constraint', (tx: EntityManager) => failWith(tx, '23505')],
  ['a statement that ran too long', (tx: EntityManager) => failWith(tx, '57014')],
  ['an error that is not from PostgreSQL', () => Promise.reject(new Error('not from PostgreSQL'))],
])('a transaction that fails with %s is not repeated', async (_, fail) => {
  const { runs, outcome, written } = await runTransaction(1, fail);
  expect([runs, outcome, written]).toEqual([1, expect.any(Error), []]);
});
