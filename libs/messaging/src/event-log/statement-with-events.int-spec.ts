import { type EventEnvelope, eventType } from '@svc/contracts';
import { inTransaction, newDataSource, type Transaction } from '@svc/persistence';
import { holdLocks, ManualClock, newTestDatabase, type TestDatabase, waitForBlockedBackends } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { EventLog, messagingMigrations, statementWithEvents } from '../index.js';

const ThingMadeV1 = eventType<{ size: number }>('thing.made.v1');
const ThingGrewV1 = eventType<{ size: number }>('thing.grew.v1');

/** Inserts things, or updates those whose size is smaller; a thing of the same size stays unchanged. */
const KEEP = statementWithEvents({
  writes: `kept AS (
      INSERT INTO things AS known (id, size, first_size) SELECT id, $size, $size FROM unnest($ids::text[]) AS id
      ON CONFLICT (id) DO UPDATE SET size = excluded.size WHERE known.size < excluded.size
      RETURNING id, first_size
    )`,
  changed: 'kept',
  aggregateId: 'id',
  payload: `event.payload || jsonb_build_object('firstSize', first_size)`,
  returns: 'first_size AS "firstSize"',
});

let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;
/** For each wake-up of the relay: the event types, and the log as another connection saw it then. */
let wakes: { types: readonly string[]; seen: Promise<string[]> }[];

beforeAll(async () => {
  database = await newTestDatabase();
  dataSource = await newDataSource({
    url: database.url,
    applicationName: 'event statement test',
    migrations: messagingMigrations,
  }).initialize();
  await dataSource.runMigrations({ transaction: 'each' });
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
  wakes = [];
  events.onCommitted = (types) => wakes.push({ types, seen: logged() });
});
afterEach(() => Promise.all(wakes.map(({ seen }) => seen)));

const ofThing = (id: string, type = ThingMadeV1): EventEnvelope =>
  events.envelope({ type, aggregateId: id, aggregateVersion: 1, payload: { size: 1 } });

function keep(
  connection: DataSource | Transaction,
  ids: readonly string[],
  { size = 1, envelopes = ids.map((id) => ofThing(id)) } = {},
): Promise<{ aggregateId: string; firstSize: number }[]> {
  return events.write(connection, KEEP, { ids, size }, envelopes);
}

async function logged(): Promise<string[]> {
  const rows = await dataSource.query<{ id: string }[]>('SELECT aggregate_id AS id FROM event_log ORDER BY 1');
  return rows.map(({ id }) => id);
}

async function things(): Promise<string[]> {
  return (await dataSource.query<{ id: string }[]>('SELECT id FROM things ORDER BY 1')).map(({ id }) => id);
}

test('rows and their events are written together, and the relay is woken once, when the events are visible', async () => {
  expect(await keep(dataSource, ['a', 'b'], { size: 3 })).toEqual([
    { aggregateId: 'a', firstSize: 3 },
    { aggregateId: 'b', firstSize: 3 },
  ]);
  expect(wakes.map(({ types }) => types)).toEqual([['thing.made.v1']]);
  expect(await wakes[0]!.seen).toEqual(['a', 'b']);
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

test('while the statement waits, the relay is not woken', async () => {
  const lock = await holdLocks(dataSource, 'LOCK TABLE things IN SHARE MODE');
  const kept = keep(dataSource, ['a']);
  await waitForBlockedBackends(dataSource, 1);
  expect(wakes).toEqual([]);
  await lock.release();
  await kept;
  expect(wakes).toHaveLength(1);
});

test('an event whose row was not changed is not written, and does not wake the relay', async () => {
  await keep(dataSource, ['a']);
  wakes = [];
  expect(await keep(dataSource, ['a'], { envelopes: [ofThing('a', ThingGrewV1)] })).toEqual([]);
  expect(wakes).toEqual([]);
  const rows = await keep(dataSource, ['a', 'b'], { envelopes: [ofThing('a', ThingGrewV1), ofThing('b')] });
  expect(rows).toEqual([{ aggregateId: 'b', firstSize: 1 }]);
  expect(wakes.map(({ types }) => types)).toEqual([['thing.made.v1']]);
  expect(await logged()).toEqual(['a', 'b']);
});

test('a row may have several events', async () => {
  const rows = await keep(dataSource, ['a'], { envelopes: [ofThing('a'), ofThing('a', ThingGrewV1)] });
  expect(rows).toEqual([{ aggregateId: 'a', firstSize: 1 }]);
  expect(wakes.map(({ types }) => types)).toEqual([['thing.made.v1', 'thing.grew.v1']]);
  expect(await wakes[0]!.seen).toEqual(['a', 'a']);
});

test('a statement that fails writes nothing and does not wake the relay', async () => {
  await expect(keep(dataSource, ['a'], { size: 0 })).rejects.toThrow('things_size_check');
  expect([await things(), await logged(), wakes]).toEqual([[], [], []]);
});

test('a statement fails if an event of a row is missing', async () => {
  await expect(keep(dataSource, ['a', 'b'], { envelopes: [ofThing('a')] })).rejects.toThrow('null value');
  expect([await things(), await logged(), wakes]).toEqual([[], [], []]);
});

test('in a transaction the relay is woken once, after the commit, for all events of the transaction', async () => {
  await inTransaction(dataSource, async (tx) => {
    await keep(tx, ['a']);
    await keep(tx, ['a'], { size: 2, envelopes: [ofThing('a', ThingGrewV1)] });
    await keep(tx, ['a'], { size: 2, envelopes: [ofThing('a', eventType('never.written.v1'))] });
    expect([await logged(), wakes]).toEqual([[], []]);
  });
  expect(wakes.map(({ types }) => types)).toEqual([['thing.made.v1', 'thing.grew.v1']]);
  expect(await wakes[0]!.seen).toEqual(['a', 'a']);
});

test('a transaction that wrote no events, or that is rolled back, does not wake the relay', async () => {
  await inTransaction(dataSource, (tx) => keep(tx, []));
  const undone = inTransaction(dataSource, async (tx) => {
    await keep(tx, ['a']);
    throw new Error('changed its mind');
  });
  await expect(undone).rejects.toThrow('changed its mind');
  expect([await logged(), wakes]).toEqual([[], []]);
});

test('a transaction that has ended is refused', async () => {
  const ended = await inTransaction(dataSource, (tx) => Promise.resolve(tx));
  await expect(keep(ended, ['a'])).rejects.toThrow('inside the transaction');
  expect([await things(), await logged()]).toEqual([[], []]);
});

test('the statement is prepared once, for any content and number of rows', async () => {
  const one = await newDataSource({ url: database.url, applicationName: 'one', poolMax: 1 }).initialize();
  try {
    for (const ids of [['a'], ['b', 'c'], ['d', 'e', 'f']]) await keep(one, ids, { size: ids.length });
    const prepared = await one.query<{ statement: string; generic_plans: number }[]>(
      `SELECT statement, generic_plans FROM pg_prepared_statements WHERE statement LIKE '%things%'`,
    );
    expect(prepared).toEqual([{ statement: KEEP.text, generic_plans: 3 }]);
  } finally {
    await one.destroy();
  }
});
