import { newDataSource } from '@svc/persistence';
import type { DataSource } from 'typeorm';
import { holdLocks, openTransaction } from './open-transaction.js';
import { newTestDatabase, type TestDatabase } from './test-database.js';

const APPLICATION = 'open transaction test';

let database: TestDatabase;
/** Has one connection, so that the next statement fails if a transaction does not release its connection. */
let dataSource: DataSource;
let observer: DataSource;
beforeAll(async () => {
  database = await newTestDatabase();
  const { url } = database;
  dataSource = await newDataSource({ url, applicationName: APPLICATION, maxConnections: 1 }).initialize();
  observer = await newDataSource({ url, applicationName: 'observer' }).initialize();
  await observer.query(`CREATE TABLE things (name text CONSTRAINT one_of_name UNIQUE DEFERRABLE INITIALLY DEFERRED)`);
});
beforeEach(() => observer.query('TRUNCATE things'));
afterAll(async () => {
  await dataSource.destroy();
  await observer.destroy();
  await database.drop();
});

const INSERT = `INSERT INTO things VALUES ('a')`;
const readNames = async (): Promise<string[]> =>
  (await dataSource.query<{ name: string }[]>('SELECT name FROM things')).map(({ name }) => name);
const listOpenTransactions = (): Promise<unknown[]> =>
  observer.query(`SELECT state, query FROM pg_stat_activity WHERE application_name = $1 AND xact_start IS NOT NULL`, [
    APPLICATION,
  ]);

test('a transaction that is not committed is rolled back at the end of its scope', async () => {
  {
    await using transaction = await openTransaction(dataSource);
    await transaction.query(INSERT);
    await transaction.manager.query(INSERT.replace('a', 'b'));
    expect(await listOpenTransactions()).toHaveLength(1);
  }
  expect(await listOpenTransactions()).toEqual([]);
  expect(await readNames()).toEqual([]);
});

test('a transaction is rolled back when its scope throws, and the scope still throws its own error', async () => {
  const failed = (async () => {
    await using transaction = await openTransaction(dataSource);
    await transaction.query(INSERT);
    throw new Error('an assertion failed');
  })();
  await expect(failed).rejects.toThrow('an assertion failed');
  expect(await listOpenTransactions()).toEqual([]);
  expect(await readNames()).toEqual([]);
});

test('a transaction that was committed stays committed at the end of its scope', async () => {
  {
    await using transaction = await openTransaction(dataSource);
    await transaction.manager.query(INSERT);
    await transaction.commit();
    expect(await listOpenTransactions()).toEqual([]);
    expect(await readNames()).toEqual(['a']);
  }
  expect(await listOpenTransactions()).toEqual([]);
  expect(await readNames()).toEqual(['a']);
});

test('a transaction whose commit fails is not left open', async () => {
  const failed = (async () => {
    await using transaction = await openTransaction(dataSource);
    for (let count = 0; count < 2; count++) await transaction.query(INSERT);
    await transaction.commit();
  })();
  await expect(failed).rejects.toMatchObject({ driverError: { constraint: 'one_of_name' } });
  expect(await listOpenTransactions()).toEqual([]);
  expect(await readNames()).toEqual([]);
});

test('the server does not end a transaction that is idle for long', async () => {
  const readTimeout = `SELECT current_setting('idle_in_transaction_session_timeout') AS timeout`;
  expect(await dataSource.query(readTimeout)).not.toEqual([{ timeout: '0' }]);
  await using transaction = await openTransaction(dataSource);
  expect(await transaction.query(readTimeout)).toEqual([{ timeout: '0' }]);
});

describe('locks', () => {
  const LOCK = 'LOCK TABLE things IN SHARE MODE';
  const insertWithoutWaiting = () => observer.query(`SET LOCAL lock_timeout = 1; ${INSERT}`);

  test('are held until they are released; the end of their scope then changes nothing', async () => {
    {
      await using lock = await holdLocks(dataSource, LOCK);
      await expect(insertWithoutWaiting()).rejects.toThrow('lock timeout');
      await lock.release();
      await insertWithoutWaiting();
    }
    expect(await listOpenTransactions()).toEqual([]);
    expect(await readNames()).toEqual(['a']);
  });

  test('are released when their scope throws', async () => {
    const failed = (async () => {
      await using _lock = await holdLocks(dataSource, LOCK);
      throw new Error('an assertion failed');
    })();
    await expect(failed).rejects.toThrow('an assertion failed');
    expect(await listOpenTransactions()).toEqual([]);
  });

  test('are not held after their statement failed', async () => {
    await expect(holdLocks(dataSource, 'LOCK TABLE unknown')).rejects.toThrow('does not exist');
    expect(await listOpenTransactions()).toEqual([]);
    expect(await readNames()).toEqual([]);
  });
});
