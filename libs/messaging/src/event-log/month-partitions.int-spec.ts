import { inTransaction, newDataSource } from '@svc/persistence';
import { holdLocks, ManualClock, newTestDatabase, openTransaction, type TestDatabase, waitUntil } from '@svc/testing';
import type { DataSource, EntityManager } from 'typeorm';
import { newNoteEvent } from '../../test/harness/effects.js';
import { EmbeddedBroker, ensureMonthPartitions, EventLog, messagingMigrations, Relay } from '../index.js';

let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  database = await newTestDatabase();
  dataSource = await newDataSource({
    url: database.url,
    applicationName: 'partitions test',
    migrations: messagingMigrations,
  }).initialize();
  await dataSource.runMigrations({ transaction: 'each' });
  events = new EventLog(dataSource, clock);
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

const append = (...texts: string[]): Promise<void> =>
  inTransaction(dataSource, (tx) => events.append(tx, ...texts.map(newNoteEvent)));
const countByPartition = (table: string): Promise<{ place: string; count: number }[]> =>
  dataSource.query(
    `SELECT tableoid::regclass::text AS place, count(*)::int AS count FROM ${table} GROUP BY 1 ORDER BY 1`,
  );

test('rows of the default partition move unchanged to the partition of their month when that partition is created', async () => {
  await append('a', 'b');
  await dataSource.query(`INSERT INTO inbox VALUES (gen_random_uuid(), $1)`, [clock.now()]);
  // A row of a month without a partition stays in the default partition.
  await dataSource.query(`INSERT INTO inbox VALUES (gen_random_uuid(), $1)`, [clock.later(200 * 24 * 3_600_000)]);
  const log = (): Promise<unknown[]> => dataSource.query(`SELECT * FROM event_log ORDER BY txid, position`);
  const before = await log();
  expect(await countByPartition('event_log')).toEqual([{ place: 'event_log_default', count: 2 }]);

  await ensureMonthPartitions(dataSource, clock);
  expect(await countByPartition('event_log')).toEqual([{ place: 'event_log_2026_03', count: 2 }]);
  expect(await countByPartition('inbox')).toEqual([
    { place: 'inbox_2026_03', count: 1 },
    { place: 'inbox_default', count: 1 },
  ]);
  expect(await log()).toEqual(before);
  await append('c');
  expect(await countByPartition('event_log')).toEqual([{ place: 'event_log_2026_03', count: 3 }]);
});

test('processes that create the partitions concurrently while events are logged lose no event and duplicate no event', async () => {
  await append('before');
  const appending = Promise.all(Array.from({ length: 40 }, (_, i) => append(`meanwhile ${i}`)));
  await Promise.all(Array.from({ length: 4 }, () => ensureMonthPartitions(dataSource, clock)));
  await appending;
  await append('after');
  expect(await countByPartition('event_log')).toEqual([{ place: 'event_log_2026_03', count: 42 }]);
});

const insertInboxRow = (tx: EntityManager) =>
  tx.query(`INSERT INTO inbox VALUES (gen_random_uuid(), $1)`, [clock.now()]);

test('partitions of future months are created while transactions write in this month', async () => {
  await ensureMonthPartitions(dataSource, clock);
  await using writer = await openTransaction(dataSource);
  await events.append(writer.manager, newNoteEvent('a'));
  await insertInboxRow(writer.manager);
  clock.advance(31 * 24 * 3_600_000);
  expect(await ensureMonthPartitions(dataSource, clock)).toBe(true);
  await writer.commit();
});

test('a transaction that reads all partitions delays the creation of partitions, but events are still logged', async () => {
  await using backup = await holdLocks(dataSource, 'SELECT FROM event_log');
  expect(await ensureMonthPartitions(dataSource, clock)).toBe(false);
  await append('meanwhile');
  await backup.release();
  expect(await ensureMonthPartitions(dataSource, clock)).toBe(true);
  expect(await countByPartition('event_log')).toEqual([{ place: 'event_log_2026_03', count: 1 }]);
});

test('a transaction that writes to the inbox and then to the event log does not deadlock with the creation of partitions', async () => {
  await using consumer = await openTransaction(dataSource);
  await insertInboxRow(consumer.manager);
  const areCreated = ensureMonthPartitions(dataSource, clock);
  await waitUntil('the creation of partitions to wait for the inbox', 10_000, async () => {
    const [{ waits }] = await dataSource.query<[{ waits: boolean }]>(
      `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'inbox_default'::regclass) AS waits`,
    );
    return waits;
  });
  await events.append(consumer.manager, newNoteEvent('an effect'));
  await consumer.commit();
  expect(await areCreated).toBe(true);
});

test('a partition into which rows were moved has the same indexes as an empty partition', async () => {
  await append('a');
  await ensureMonthPartitions(dataSource, clock);
  const indexes = (partition: string): Promise<{ columns: string }[]> =>
    dataSource.query(
      `SELECT regexp_replace(indexdef, '^.* USING ', '') AS columns FROM pg_indexes WHERE tablename = $1 ORDER BY 1`,
      [partition],
    );
  expect(await indexes('event_log_2026_03')).toEqual(await indexes('event_log_2026_04'));
  expect(await indexes('event_log_2026_03')).not.toEqual([]);
});

test('ensureMonthPartitions rejects with any error other than a lock timeout', async () => {
  await dataSource.query('DROP FUNCTION ensure_month_partitions');
  await expect(ensureMonthPartitions(dataSource, clock)).rejects.toThrow('does not exist');
});

test('a relay that cannot create partitions because of a lock retries a minute later, and logs a warning each time', async () => {
  await dataSource.query(`CREATE OR REPLACE FUNCTION ensure_month_partitions(parent text, first_day date, months int)
    RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'locked' USING ERRCODE = '55P03'; END $$`);
  const warn = jest.fn();
  const relay = new Relay(dataSource, new EmbeddedBroker(), clock, { info: jest.fn(), warn, error: jest.fn() });
  const countWarningsAfterRestart = async (): Promise<number> => {
    await relay.start();
    await relay.stop();
    return warn.mock.calls.length;
  };
  expect(await countWarningsAfterRestart()).toBe(1);
  clock.advance(59_999);
  expect(await countWarningsAfterRestart()).toBe(1);
  clock.advance(1);
  expect(await countWarningsAfterRestart()).toBe(2);
});
