import { newDataSource } from '@svc/persistence';
import { ManualClock, newTestDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { noted } from './contract/effects.js';
import { ensureMonthPartitions, EventLog, messagingMigrations } from './index.js';

let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;
const clock = new ManualClock();

beforeEach(async () => {
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
  dataSource.transaction((tx) => events.append(tx, ...texts.map(noted)));
const placesOf = (table: string): Promise<{ place: string; count: number }[]> =>
  dataSource.query(
    `SELECT tableoid::regclass::text AS place, count(*)::int AS count FROM ${table} GROUP BY 1 ORDER BY 1`,
  );

test('rows in the default partition move to their month, unchanged, when its partition is made', async () => {
  await append('a', 'b');
  await dataSource.query(`INSERT INTO inbox VALUES (gen_random_uuid(), $1)`, [clock.now()]);
  // Of a month that has no partition yet: it stays where it is.
  await dataSource.query(`INSERT INTO inbox VALUES (gen_random_uuid(), $1)`, [clock.later(200 * 24 * 3_600_000)]);
  const log = (): Promise<unknown[]> => dataSource.query(`SELECT * FROM event_log ORDER BY txid, position`);
  const before = await log();
  expect(await placesOf('event_log')).toEqual([{ place: 'event_log_default', count: 2 }]);

  await ensureMonthPartitions(dataSource, clock);
  expect(await placesOf('event_log')).toEqual([{ place: 'event_log_2026_03', count: 2 }]);
  expect(await placesOf('inbox')).toEqual([
    { place: 'inbox_2026_03', count: 1 },
    { place: 'inbox_default', count: 1 },
  ]);
  expect(await log()).toEqual(before);
  await append('c');
  expect(await placesOf('event_log')).toEqual([{ place: 'event_log_2026_03', count: 3 }]);
});

test('processes that ensure them at once while events are logged lose and double none', async () => {
  await append('before');
  const appending = Promise.all(Array.from({ length: 40 }, (_, i) => append(`meanwhile ${i}`)));
  await Promise.all(Array.from({ length: 4 }, () => ensureMonthPartitions(dataSource, clock)));
  await appending;
  await append('after');
  expect(await placesOf('event_log')).toEqual([{ place: 'event_log_2026_03', count: 42 }]);
});

test('a partition that rows were moved to has the indexes of the others', async () => {
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
