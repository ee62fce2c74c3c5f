import { newTestDatabase, type TestDatabase } from '@svc/testing';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { newDataSource } from './data-source.js';

const IDLE_IN_TRANSACTION_SESSION_TIMEOUT = '25P03';

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await newTestDatabase();
  dataSource = await newDataSource({ url: database.url, applicationName: 'test', maxConnections: 1 }).initialize();
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

test('a connection parses and plans a statement with parameters only once', async () => {
  const statement = 'SELECT $1::int + 1 AS sum';
  for (const [value, sum] of [
    [1, 2],
    [41, 42],
  ])
    expect(await dataSource.query(statement, [value])).toEqual([{ sum }]);
  const prepared = await dataSource.query(
    `SELECT generic_plans AS runs FROM pg_prepared_statements WHERE statement = 'SELECT $1::int + 1 AS sum'`,
  );
  expect(prepared).toEqual([{ runs: 2 }]);
});

test('a statement without parameters is not prepared', async () => {
  await dataSource.query('SELECT 1 AS one');
  expect(await dataSource.query(`SELECT 1 FROM pg_prepared_statements WHERE statement LIKE '%AS one'`)).toEqual([]);
});

const readBackendPid = async (): Promise<number> =>
  (await dataSource.query<[{ pid: number }]>('SELECT pg_backend_pid() AS pid'))[0].pid;

test('a connection stays open after a failed statement, but is replaced if the statement failed because the connection is read-only', async () => {
  const pidBefore = await readBackendPid();
  await expect(dataSource.query('SELECT 1 / $1::int', [0])).rejects.toThrow('division by zero');
  expect(await readBackendPid()).toBe(pidBefore);
  await dataSource.query('SET default_transaction_read_only = on');
  await expect(dataSource.query('CREATE TABLE never (id int)')).rejects.toThrow('read-only');
  expect(await readBackendPid()).not.toBe(pidBefore);
  await dataSource.query('CREATE TEMPORARY TABLE written (id int)');
});

test('the server ends a transaction that is idle for too long, and the next statement uses another connection', async () => {
  const pidBefore = await readBackendPid();
  const runner = dataSource.createQueryRunner();
  const client = (await runner.connect()) as pg.Client;
  const ended = new Promise((resolve) => client.once('error', resolve));
  // eslint-disable-next-line no-restricted-syntax -- The server ends this transaction.
  await runner.startTransaction();
  await runner.query('SELECT pg_current_xact_id()');
  const startedAt = performance.now();
  expect(await ended).toMatchObject({ code: IDLE_IN_TRANSACTION_SESSION_TIMEOUT });
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  await runner.release();
  expect(await readBackendPid()).not.toBe(pidBefore);
});

test('a connection has the planner settings for lookups, so that plans for small and large tables are the same', async () => {
  const settings = ['plan_cache_mode', 'enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit'];
  const rows = await dataSource.query<{ setting: string }[]>(
    'SELECT setting FROM pg_settings JOIN unnest($1::text[]) WITH ORDINALITY AS wanted(name, nr) USING (name) ORDER BY nr',
    [settings],
  );
  expect(rows.map(({ setting }) => setting)).toEqual(['force_generic_plan', 'off', 'off', 'off', 'off']);
});
