import type { EventEnvelope } from '@svc/contracts';
import { newDataSource } from '@svc/persistence';
import { holdLocks, ManualClock, newMessagingDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { Consumer, DeadLetters, type EventHandler, type MessagingLog } from '../index.js';
import { DeferredEvents } from './deferred-events.js';

const silentLog: MessagingLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
const clock = new ManualClock();
let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await newMessagingDatabase();
  dataSource = newDataSource({ url: database.url, applicationName: 'consumer test' });
  await dataSource.initialize();
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

function event(nr: number, type = 'a.v1'): EventEnvelope {
  const id = `00000000-0000-7000-8000-${String(nr).padStart(12, '0')}`;
  return { id, type, aggregateId: 'x', aggregateVersion: 1, occurredAt: '2026-03-01T10:00:00.000Z', payload: nr };
}

function newConsumer(handlers: Record<string, EventHandler>, idempotent: string[] = []): Consumer {
  return new Consumer(
    dataSource,
    { byType: new Map(Object.entries(handlers)), idempotent: new Set(idempotent) },
    clock,
    silentLog,
    new DeferredEvents(dataSource, clock),
  );
}

test('a handler is called with consecutive events of one type, in the order of the log', async () => {
  const calls: unknown[][] = [];
  const record: EventHandler = (events) => Promise.resolve(calls.push(events.map(({ payload }) => payload)));
  const consumer = newConsumer({ 'a.v1': record, 'b.v1': record });
  await consumer.deliver([event(1), event(2), event(3, 'b.v1'), event(4, 'unknown.v1'), event(5, 'b.v1'), event(6)]);
  expect(calls).toEqual([[1, 2], [3, 5], [6]]);
});

test('an event that is in a batch twice, or is delivered twice, is handled once', async () => {
  const handled: unknown[] = [];
  const consumer = newConsumer({
    'a.v1': (events) => Promise.resolve(handled.push(...events.map(({ payload }) => payload))),
  });
  await consumer.deliver([event(11), event(12), event(11)]);
  await consumer.deliver([event(12), event(13)]);
  await Promise.all([consumer.deliver([event(14)]), consumer.deliver([event(14)])]);
  expect(handled).toEqual([11, 12, 13, 14]);
});

describe('events whose effect is idempotent', () => {
  const calls: unknown[] = [];
  const record: EventHandler = (events) => Promise.resolve(calls.push(events.map(({ payload }) => payload)));
  beforeEach(() => void calls.splice(0));
  const inboxEntries = (): Promise<unknown[]> =>
    dataSource.query('SELECT 1 FROM inbox WHERE message_id = $1', [event(31).id]);

  test('are handled in one call for each type, without an inbox entry', async () => {
    const consumer = newConsumer({ 'a.v1': record, 'b.v1': record }, ['a.v1', 'b.v1']);
    await consumer.deliver([event(31), event(32, 'b.v1'), event(33), event(31)]);
    expect(calls).toEqual([[31, 33], [32]]);
    expect(await inboxEntries()).toEqual([]);
  });

  test('have no inbox entry in a batch with other events either, so that a replay in such a batch handles them again', async () => {
    const consumer = newConsumer({ 'a.v1': record, 'b.v1': record }, ['a.v1']);
    await consumer.deliver([event(34, 'b.v1'), event(31)]);
    await consumer.deliver([event(31), event(35, 'b.v1')]);
    // The idempotent events of a batch come first, so the end of a replay comes after its events.
    expect(calls).toEqual([[31], [34], [31], [35]]);
    expect(await inboxEntries()).toEqual([]);
  });

  test('become dead letters if their handler keeps failing, and other events are handled', async () => {
    const consumer = newConsumer({ 'a.v1': record, 'b.v1': () => Promise.reject(new Error('broken')) }, [
      'a.v1',
      'b.v1',
    ]);
    await consumer.deliver([event(35, 'b.v1'), event(36)]);
    expect(calls.at(-1)).toEqual([36]);
    const deadLetters = await dataSource.query('SELECT deliveries FROM dead_letters WHERE message_id = $1', [
      event(35).id,
    ]);
    expect(deadLetters).toEqual([{ deliveries: 5 }]);
  });
});

describe('a dead letter', () => {
  const handled: unknown[] = [];
  let isBroken: boolean;
  const handlers = {
    'a.v1': (events: readonly EventEnvelope[]) => {
      if (isBroken) return Promise.reject(new Error('broken'));
      return Promise.resolve(handled.push(...events.map(({ payload }) => payload)));
    },
  };
  let deadLetters: DeadLetters;
  beforeAll(() => {
    deadLetters = new DeadLetters(dataSource, new Map(Object.entries(handlers)));
  });
  const listIds = async (): Promise<string[]> =>
    (await deadLetters.list()).deadLetters.map(({ messageId }) => messageId);

  test('is handled once, by its replay, and not when its event is delivered again', async () => {
    const consumer = newConsumer(handlers);
    isBroken = true;
    await consumer.deliver([event(41)]);
    isBroken = false;
    expect(await listIds()).toContain(event(41).id);
    // A relay that exits before it has moved its cursor delivers the message again.
    await consumer.deliver([event(41), event(42)]);
    expect(handled).toEqual([42]);
    await deadLetters.replay(event(41).id);
    await consumer.deliver([event(41)]);
    expect(handled).toEqual([42, 41]);
    await expect(deadLetters.replay(event(41).id)).rejects.toMatchObject({ code: 'resource.not-found' });
  });

  test('can be replayed alone, and the list of dead letters is sorted by failure time, then by id', async () => {
    const consumer = newConsumer(handlers);
    isBroken = true;
    await consumer.deliver([event(45), event(43), event(44)]);
    isBroken = false;
    const ids = [43, 44, 45].map((nr) => event(nr).id);
    expect((await listIds()).filter((id) => ids.includes(id))).toEqual(ids);
    await deadLetters.replay(ids[1]!);
    expect((await listIds()).filter((id) => ids.includes(id))).toEqual([ids[0], ids[2]]);
  });
});

describe('many dead letters', () => {
  let isBroken = true;
  const handled: unknown[] = [];
  const handlers: Record<string, EventHandler> = {
    'bulk.v1': (events) => {
      if (isBroken || events.some(({ payload }) => payload === 1_150)) return Promise.reject(new Error('broken'));
      return Promise.resolve(handled.push(...events.map(({ payload }) => payload)));
    },
  };
  const newDeadLetters = (): DeadLetters => new DeadLetters(dataSource, new Map(Object.entries(handlers)));
  beforeAll(async () => {
    const rows = Array.from({ length: 430 }, (_, i) => event(1_000 + i, i < 420 ? 'bulk.v1' : 'unhandled.v1'));
    // Groups of 50 rows have the same failure time, so the rows of a group are sorted by their ids.
    await dataSource.query(
      `INSERT INTO dead_letters (message_id, type, envelope, error, deliveries, failed_at)
       SELECT (envelope->>'id')::uuid, envelope->>'type', envelope, 'broken', 5, timestamptz '2026-01-01' + nr / 50 * interval '1 minute'
         FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS row (envelope, nr)`,
      [JSON.stringify(rows)],
    );
  });

  test('are listed in pages of 200, and each dead letter is on one page', async () => {
    const pages: number[] = [];
    const seen = new Set<string>();
    for (let after: string | null | undefined; after !== null;) {
      const page = await newDeadLetters().list({ type: 'bulk.v1', after });
      pages.push(page.deadLetters.length);
      for (const { messageId } of page.deadLetters) seen.add(messageId);
      after = page.after;
    }
    expect(pages).toEqual([200, 200, 20]);
    expect(seen.size).toBe(420);
    await expect(newDeadLetters().list({ after: 'nonsense' })).rejects.toMatchObject({ code: 'request.invalid' });
  });

  test('are replayed in pages, each dead letter once, and dead letters that fail again stay in the table', async () => {
    isBroken = false;
    const sum = { replayed: 0, failed: 0, pages: 0 };
    for (let after: string | null | undefined; after !== null; sum.pages++) {
      const page = await newDeadLetters().replayMany({ type: 'bulk.v1', after });
      sum.replayed += page.replayed;
      sum.failed += page.failed;
      after = page.after;
    }
    expect(sum).toEqual({ replayed: 419, failed: 1, pages: 5 });
    expect(new Set(handled).size).toBe(419);
    const remaining = await newDeadLetters().list({ type: 'bulk.v1' });
    expect(remaining.deadLetters.map(({ messageId }) => messageId)).toEqual([event(1_150).id]);
    expect((await newDeadLetters().list({ type: 'unhandled.v1' })).deadLetters).toHaveLength(10);
  });
});

describe('an event whose handler fails because of the database', () => {
  const deadLetters = (nr: number): Promise<unknown[]> =>
    dataSource.query('SELECT deliveries FROM dead_letters WHERE message_id = $1', [event(nr).id]);
  const countDeferred = async (): Promise<number> => {
    const rows = await dataSource.query<unknown[]>(`SELECT 1 FROM deferred_events WHERE reason = 'blocked'`);
    return rows.length;
  };
  const timeOut: EventHandler = async (_, { tx }) => {
    await tx.query(`SET LOCAL statement_timeout = 20`);
    await tx.query('SELECT pg_sleep(5)');
  };
  const newHandlerThatTimesOutFor =
    (payloadThatTimesOut: number, handled: unknown[]): EventHandler =>
    async (events, context) => {
      if (events.some(({ payload }) => payload === payloadThatTimesOut)) await timeOut(events, context);
      handled.push(...events.map(({ payload }) => payload));
    };
  /** Retries once a minute of the test clock. */
  async function retryForAnHour(consumer: Consumer): Promise<void> {
    for (let i = 0; i < 60; i++) {
      clock.advance(60_000);
      await consumer.retryDeferred();
    }
  }

  test('becomes a dead letter if it keeps timing out while other events of its type succeed', async () => {
    const handled: unknown[] = [];
    const consumer = newConsumer({ 'timed.v1': newHandlerThatTimesOutFor(51, handled) });
    await consumer.deliver([event(51, 'timed.v1'), event(52, 'timed.v1')]);
    expect(handled).toEqual([52]);
    expect(await deadLetters(51)).toEqual([]);
    for (let nr = 53; nr < 58; nr++) {
      expect(await deadLetters(51)).toEqual([]);
      await consumer.deliver([event(nr, 'timed.v1')]);
      clock.advance(60_000);
      await consumer.retryDeferred();
    }
    expect(await deadLetters(51)).toEqual([{ deliveries: 6 }]);
    expect(await countDeferred()).toBe(0);
    expect(handled).toEqual([52, 53, 54, 55, 56, 57]);
  });

  test('stays deferred while all events of its type time out, and events of other types are handled', async () => {
    const handled: unknown[] = [];
    let isLocked = true;
    const consumer = newConsumer({
      'locked.v1': (events, context) =>
        isLocked ? timeOut(events, context) : Promise.resolve(handled.push(...events.map(({ payload }) => payload))),
      'free.v1': (events) => Promise.resolve(handled.push(...events.map(({ payload }) => payload))),
    });
    await consumer.deliver([61, 62, 63, 64].map((nr) => event(nr, 'locked.v1')));
    await consumer.deliver([event(65, 'free.v1'), event(66, 'locked.v1')]);
    expect(handled).toEqual([65]);
    await retryForAnHour(consumer);
    expect(await countDeferred()).toBe(5);

    isLocked = false;
    await retryForAnHour(consumer);
    expect([...handled].sort()).toEqual([61, 62, 63, 64, 65, 66]);
    expect(await countDeferred()).toBe(0);
    for (const nr of [61, 62, 63, 64, 66]) expect(await deadLetters(nr)).toEqual([]);
    await consumer.deliver([event(67, 'locked.v1')]);
    expect(handled.at(-1)).toBe(67);
  });

  test('stays deferred while it does not get a lock, even if other events of its type succeed', async () => {
    let isLocked = true;
    const consumer = newConsumer({
      'refused.v1': async (events, { tx }) => {
        if (isLocked && events.some(({ payload }) => payload === 71))
          await tx.query(`DO $$ BEGIN RAISE EXCEPTION 'locked' USING ERRCODE = '55P03'; END $$`);
      },
    });
    await consumer.deliver([event(71, 'refused.v1')]);
    for (let nr = 72; nr < 80; nr++) {
      await consumer.deliver([event(nr, 'refused.v1')]);
      clock.advance(60_000);
      await consumer.retryDeferred();
    }
    expect(await deadLetters(71)).toEqual([]);
    expect(await countDeferred()).toBe(1);
    isLocked = false;
    clock.advance(60_000);
    await consumer.retryDeferred();
    expect(await countDeferred()).toBe(0);
    expect(await deadLetters(71)).toEqual([]);
  });

  test('waits 2 s for a lock at its first delivery and 250 ms at each retry, and is retried every 2 s', async () => {
    const lockTimeouts: string[] = [];
    const consumer = newConsumer({
      'awaited.v1': async (events, { tx }) => {
        const [{ lock_timeout: lockTimeout }] = await tx.query<[{ lock_timeout: string }]>('SHOW lock_timeout');
        lockTimeouts.push(lockTimeout);
        await tx.query('INSERT INTO awaited SELECT FROM generate_series(1, $1::int)', [events.length]);
      },
    });
    await dataSource.query('CREATE TABLE awaited ()');
    await using lock = await holdLocks(dataSource, 'LOCK TABLE awaited IN SHARE MODE');
    await consumer.deliver([event(111, 'awaited.v1')]);
    // The consumer attempts the whole batch and then each event separately. The wait is shorter than the statement
    // timeout, because the transaction is open meanwhile, and an open transaction delays the seals of the ledger.
    expect(lockTimeouts.splice(0)).toEqual(['2s', '2s']);
    for (let i = 0; i < 10; i++) {
      clock.advance(2_000);
      expect(await consumer.retryDeferred()).toBe(0);
    }
    expect(lockTimeouts.splice(0)).toEqual(Array.from({ length: 10 }, () => '250ms'));
    await lock.release();
    clock.advance(2_000);
    expect(await consumer.retryDeferred()).toBe(1);
    expect(await countDeferred()).toBe(0);
  });

  test('becomes a dead letter when it has been blocked for a day', async () => {
    const consumer = newConsumer({ 'alone.v1': timeOut });
    await consumer.deliver([event(81, 'alone.v1')]);
    for (let hour = 0; hour < 23; hour++) {
      clock.advance(3_600_000);
      await consumer.retryDeferred();
    }
    expect(await deadLetters(81)).toEqual([]);
    clock.advance(3_600_000);
    await consumer.retryDeferred();
    expect(await deadLetters(81)).toEqual([{ deliveries: 25 }]);
    expect(await countDeferred()).toBe(0);
  });

  test('is not deferred and does not become a dead letter if the database is read-only, because the whole delivery fails', async () => {
    const consumer = newConsumer({
      'written.v1': async (_, { tx }) => {
        await tx.query(`DO $$ BEGIN RAISE EXCEPTION 'read-only' USING ERRCODE = '25006'; END $$`);
      },
    });
    await expect(consumer.deliver([event(91, 'written.v1')])).rejects.toThrow(
      'database of the consumer is unavailable',
    );
    expect(await deadLetters(91)).toEqual([]);
    expect(await countDeferred()).toBe(0);
  });

  test('becomes a dead letter after five deliveries if it was deferred and its handler then fails for another reason', async () => {
    let failure: EventHandler = timeOut;
    const consumer = newConsumer({ 'turned.v1': (events, context) => failure(events, context) });
    await consumer.deliver([event(95, 'turned.v1')]);
    expect(await countDeferred()).toBe(1);
    failure = () => Promise.reject(new Error('cannot be read'));
    clock.advance(60_000);
    await consumer.retryDeferred();
    expect(await deadLetters(95)).toEqual([{ deliveries: 5 }]);
    expect(await countDeferred()).toBe(0);
  });
});

test('findDue() returns the deferred events whose pause has passed, sorted by the time when they were deferred, then by id', async () => {
  const deferredEvents = new DeferredEvents(dataSource, clock);
  const findDue = async () =>
    (await deferredEvents.findDue(new Set(['late.v1']))).map(({ envelope }) => envelope.payload);
  await deferredEvents.defer([event(103, 'late.v1')], 'blocked');
  clock.advance(500);
  await deferredEvents.defer([event(102, 'late.v1')], 'blocked');
  await deferredEvents.defer([event(101, 'late.v1')], 'blocked');
  expect(await findDue()).toEqual([]);
  clock.advance(500);
  expect(await findDue()).toEqual([103]);
  clock.advance(500);
  expect(await findDue()).toEqual([103, 101, 102]);
});
