import { newTestDatabase, type TestDatabase } from '@svc/testing';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { newDataSource } from './data-source.js';

const IDLE_IN_TRANSACTION_SESSION_TIMEOUT = '25P03';

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await newTestDatabase();
  dataSource = await newDataSource({ url: database.url, applicationName: 'test', poolMax: 1 }).initialize();
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

test('a statement with parameters is parsed and planned once for a connection', async () => {
  const statement = 'SELECT $1::int + 1 AS sum';
  for (const [given, sum] of [
    [1, 2],
    [41, 42],
  ])
    expect(await dataSource.query(statement, [given])).toEqual([{ sum }]);
  const known = await dataSource.query(
    `SELECT generic_plans AS runs FROM pg_prepared_statements WHERE statement = 'SELECT $1::int + 1 AS sum'`,
  );
  expect(known).toEqual([{ runs: 2 }]);
});

test('a statement without parameters is not prepared', async () => {
  await dataSource.query('SELECT 1 AS one');
  expect(await dataSource.query(`SELECT 1 FROM pg_prepared_statements WHERE statement LIKE '%AS one'`)).toEqual([]);
});

const pid = async (): Promise<number> =>
  (await dataSource.query<[{ pid: number }]>('SELECT pg_backend_pid() AS pid'))[0].pid;

test('a connection stays open after an error of its statement, and is replaced if it is read-only', async () => {
  const before = await pid();
  await expect(dataSource.query('SELECT 1 / $1::int', [0])).rejects.toThrow('division by zero');
  expect(await pid()).toBe(before);
  await dataSource.query('SET default_transaction_read_only = on');
  await expect(dataSource.query('CREATE TABLE never (id int)')).rejects.toThrow('read-only');
  expect(await pid()).not.toBe(before);
  await dataSource.query('CREATE TEMPORARY TABLE written (id int)');
});

test('the server ends a transaction that is left open, and the next one gets another connection', async () => {
  const before = await pid();
  const runner = dataSource.createQueryRunner();
  const client = (await runner.connect()) as pg.Client;
  const ended = new Promise((resolve) => client.once('error', resolve));
  await runner.startTransaction();
  await runner.query('SELECT pg_current_xact_id()');
  const begin = performance.now();
  expect(await ended).toMatchObject({ code: IDLE_IN_TRANSACTION_SESSION_TIMEOUT });
  expect(performance.now() - begin).toBeLessThan(15_000);
  await runner.release();
  expect(await pid()).not.toBe(before);
});

test('the plans are the same for small and large tables, and without JIT compilation', async () => {
  const settings = ['plan_cache_mode', 'enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit'];
  const rows = await dataSource.query<{ setting: string }[]>(
    'SELECT setting FROM pg_settings JOIN unnest($1::text[]) WITH ORDINALITY AS wanted(name, nr) USING (name) ORDER BY nr',
    [settings],
  );
  expect(rows.map(({ setting }) => setting)).toEqual(['force_generic_plan', 'off', 'off', 'off', 'off']);
});
