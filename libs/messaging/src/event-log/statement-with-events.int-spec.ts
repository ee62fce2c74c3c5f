import { type EventEnvelope, eventType } from '@svc/contracts';
import { inTransaction, newDataSource, type Transaction } from '@svc/persistence';
import { holdLocks, ManualClock, newMessagingDatabase, type TestDatabase, waitForBlockedBackends } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { EventLog, statementWithEvents } from '../index.js';

const ThingMadeV1 = eventType<{ size: number }>('thing.made.v1');
const ThingGrewV1 = eventType<{ size: number }>('thing.grew.v1');

/** Inserts things with a size. Updates existing things whose size is smaller. Other things stay unchanged. */
const UPSERT_THINGS = statementWithEvents({
  writes: `kept AS (
      INSERT INTO things AS known (id, size, first_size) SELECT id, $size, $size FROM unnest($ids::text[]) AS id
      ON CONFLICT (id) DO UPDATE SET size = excluded.size WHERE known.size < excluded.size
      RETURNING id, first_size
    )`,
  changed: 'kept',
  aggregateId: 'id',
  payload: `(event.payload::jsonb || jsonb_build_object('firstSize', first_size))::json`,
  returns: 'first_size AS "firstSize"',
});

let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;
/**
 * For each wake-up of the relay: the event types, and the aggregate ids that another connection then reads in the log.
 */
let wakeUps: { types: readonly string[]; loggedIds: Promise<string[]> }[];

beforeAll(async () => {
  database = await newMessagingDatabase();
  dataSource = await newDataSource({
    url: database.url,
    applicationName: 'event statement test',
  }).initialize();
  await dataSource.query('CREATE TABLE things (id text PRIMARY KEY, size int CHECK (size > 0), first_size int)');
  events = new EventLog(dataSource, new ManualClock());
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});
beforeEach(async () => {
  await dataSource.query('DELETE FROM things');
  await dataSource.query('DELETE FROM event_log');
  wakeUps = [];
  events.onCommitted = (types) => wakeUps.push({ types, loggedIds: readLoggedIds() });
});
afterEach(() => Promise.all(wakeUps.map(({ loggedIds }) => loggedIds)));

const newThingEvent = (id: string, type = ThingMadeV1): EventEnvelope =>
  events.newEnvelope({ type, aggregateId: id, aggregateVersion: 1, payload: { size: 1 } });

function upsertThings(
  connection: DataSource | Transaction,
  ids: readonly string[],
  { size = 1, envelopes = ids.map((id) => newThingEvent(id)) } = {},
): Promise<{ aggregateId: string; firstSize: number }[]> {
  return events.write(connection, UPSERT_THINGS, { ids, size }, envelopes);
}

async function readLoggedIds(): Promise<string[]> {
  const rows = await dataSource.query<{ id: string }[]>('SELECT aggregate_id AS id FROM event_log ORDER BY 1');
  return rows.map(({ id }) => id);
}

async function readThingIds(): Promise<string[]> {
  return (await dataSource.query<{ id: string }[]>('SELECT id FROM things ORDER BY 1')).map(({ id }) => id);
}

test('a statement writes rows and their events together, and wakes the relay once, when the events are visible', async () => {
  expect(await upsertThings(dataSource, ['a', 'b'], { size: 3 })).toEqual([
    { aggregateId: 'a', firstSize: 3 },
    { aggregateId: 'b', firstSize: 3 },
  ]);
  expect(wakeUps.map(({ types }) => types)).toEqual([['thing.made.v1']]);
  expect(await wakeUps[0]!.loggedIds).toEqual(['a', 'b']);
  const [row] = await dataSource.query<unknown[]>(
    `SELECT type, aggregate_version, occurred_at, traceparent, payload FROM event_log WHERE aggregate_id = 'a'`,
  );
  expect(row).toEqual({
    type: 'thing.made.v1',
    aggregate_version: 1,
    occurred_at: new Date('2026-03-01T10:00:00.000Z'),
    traceparent: null,
    payload: { size: 1, firstSize: 3 },
  });
});

test('the relay is not woken while the statement waits for a lock', async () => {
  await using lock = await holdLocks(dataSource, 'LOCK TABLE things IN SHARE MODE');
  const upserted = upsertThings(dataSource, ['a']);
  await waitForBlockedBackends(dataSource, 1);
  expect(wakeUps).toEqual([]);
  await lock.release();
  await upserted;
  expect(wakeUps).toHaveLength(1);
});

test('an event whose row was not changed is not written, and does not wake the relay', async () => {
  await upsertThings(dataSource, ['a']);
  wakeUps = [];
  expect(await upsertThings(dataSource, ['a'], { envelopes: [newThingEvent('a', ThingGrewV1)] })).toEqual([]);
  expect(wakeUps).toEqual([]);
  const rows = await upsertThings(dataSource, ['a', 'b'], {
    envelopes: [newThingEvent('a', ThingGrewV1), newThingEvent('b')],
  });
  expect(rows).toEqual([{ aggregateId: 'b', firstSize: 1 }]);
  expect(wakeUps.map(({ types }) => types)).toEqual([['thing.made.v1']]);
  expect(await readLoggedIds()).toEqual(['a', 'b']);
});

test('a changed row may have several events, and all of them are written', async () => {
  const rows = await upsertThings(dataSource, ['a'], {
    envelopes: [newThingEvent('a'), newThingEvent('a', ThingGrewV1)],
  });
  expect(rows).toEqual([{ aggregateId: 'a', firstSize: 1 }]);
  expect(wakeUps.map(({ types }) => types)).toEqual([['thing.made.v1', 'thing.grew.v1']]);
  expect(await wakeUps[0]!.loggedIds).toEqual(['a', 'a']);
});

test('a statement that fails writes nothing and does not wake the relay', async () => {
  await expect(upsertThings(dataSource, ['a'], { size: 0 })).rejects.toThrow('things_size_check');
  expect([await readThingIds(), await readLoggedIds(), wakeUps]).toEqual([[], [], []]);
});

test('a statement fails if an event of a row is missing', async () => {
  await expect(upsertThings(dataSource, ['a', 'b'], { envelopes: [newThingEvent('a')] })).rejects.toThrow('null value');
  expect([await readThingIds(), await readLoggedIds(), wakeUps]).toEqual([[], [], []]);
});

test('in a transaction the relay is woken once, after the commit, for all events of the transaction', async () => {
  await inTransaction(dataSource, async (tx) => {
    await upsertThings(tx, ['a']);
    await upsertThings(tx, ['a'], { size: 2, envelopes: [newThingEvent('a', ThingGrewV1)] });
    await upsertThings(tx, ['a'], { size: 2, envelopes: [newThingEvent('a', eventType('never.written.v1'))] });
    expect([await readLoggedIds(), wakeUps]).toEqual([[], []]);
  });
  expect(wakeUps.map(({ types }) => types)).toEqual([['thing.made.v1', 'thing.grew.v1']]);
  expect(await wakeUps[0]!.loggedIds).toEqual(['a', 'a']);
});

test('a transaction that wrote no events, or that is rolled back, does not wake the relay', async () => {
  await inTransaction(dataSource, (tx) => upsertThings(tx, []));
  const rolledBack = inTransaction(dataSource, async (tx) => {
    await upsertThings(tx, ['a']);
    throw new Error('no stock');
  });
  await expect(rolledBack).rejects.toThrow('no stock');
  expect([await readLoggedIds(), wakeUps]).toEqual([[], []]);
});

test('write() rejects a transaction that has ended', async () => {
  const ended = await inTransaction(dataSource, (tx) => Promise.resolve(tx));
  await expect(upsertThings(ended, ['a'])).rejects.toThrow('inside the transaction');
  expect([await readThingIds(), await readLoggedIds()]).toEqual([[], []]);
});

test('the statement is prepared once, for any content and number of rows', async () => {
  const singleConnection = await newDataSource({
    url: database.url,
    applicationName: 'single connection',
    maxConnections: 1,
  }).initialize();
  try {
    for (const ids of [['a'], ['b', 'c'], ['d', 'e', 'f']])
      await upsertThings(singleConnection, ids, { size: ids.length });
    const prepared = await singleConnection.query<{ statement: string; generic_plans: number }[]>(
      `SELECT statement, generic_plans FROM pg_prepared_statements WHERE statement LIKE '%things%'`,
    );
    expect(prepared).toEqual([{ statement: UPSERT_THINGS.text, generic_plans: 3 }]);
  } finally {
    await singleConnection.destroy();
  }
});
