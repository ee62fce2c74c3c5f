import type { EventEnvelope } from '@svc/contracts';
import { newDataSource } from '@svc/persistence';
import { ManualClock, newTestDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { Consumer, DeadLetters, type EventHandler, type MessagingLog, messagingMigrations } from '../index.js';
import { DeferredEvents } from './deferred-events.js';

const silent: MessagingLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
const clock = new ManualClock();
let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await newTestDatabase();
  dataSource = newDataSource({ url: database.url, applicationName: 'consumer test', migrations: messagingMigrations });
  await dataSource.initialize();
  await dataSource.runMigrations({ transaction: 'each' });
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

function event(nr: number, type = 'a.v1'): EventEnvelope {
  const id = `00000000-0000-7000-8000-${String(nr).padStart(12, '0')}`;
  return { id, type, aggregateId: 'x', aggregateVersion: 1, occurredAt: '2026-03-01T10:00:00.000Z', payload: nr };
}

function consumerOf(handlers: Record<string, EventHandler>, repeatable: string[] = []): Consumer {
  return new Consumer(
    dataSource,
    { byType: new Map(Object.entries(handlers)), repeatable: new Set(repeatable) },
    clock,
    silent,
    new DeferredEvents(dataSource, clock),
  );
}

test('handlers get runs of one type, in the order of the log', async () => {
  const runs: unknown[][] = [];
  const record: EventHandler = (events) => Promise.resolve(runs.push(events.map(({ payload }) => payload)));
  const consumer = consumerOf({ 'a.v1': record, 'b.v1': record });
  await consumer.deliver([event(1), event(2), event(3, 'b.v1'), event(4, 'nobody.v1'), event(5, 'b.v1'), event(6)]);
  expect(runs).toEqual([[1, 2], [3, 5], [6]]);
});

test('an event that is in a batch twice, or comes again, is handled once', async () => {
  const handled: unknown[] = [];
  const consumer = consumerOf({
    'a.v1': (events) => Promise.resolve(handled.push(...events.map(({ payload }) => payload))),
  });
  await consumer.deliver([event(11), event(12), event(11)]);
  await consumer.deliver([event(12), event(13)]);
  await Promise.all([consumer.deliver([event(14)]), consumer.deliver([event(14)])]);
  expect(handled).toEqual([11, 12, 13, 14]);
});

describe('repeatable effects', () => {
  const seen: unknown[] = [];
  const record: EventHandler = (events) => Promise.resolve(seen.push(events.map(({ payload }) => payload)));
  beforeEach(() => void seen.splice(0));
  const inbox = (): Promise<unknown[]> => dataSource.query('SELECT 1 FROM inbox WHERE message_id = $1', [event(31).id]);

  test('come in one call for each type, and leave no mark in the inbox', async () => {
    const consumer = consumerOf({ 'a.v1': record, 'b.v1': record }, ['a.v1', 'b.v1']);
    await consumer.deliver([event(31), event(32, 'b.v1'), event(33), event(31)]);
    expect(seen).toEqual([[31, 33], [32]]);
    expect(await inbox()).toEqual([]);
  });

  test('are marked with the others of a batch that has one of another kind', async () => {
    await consumerOf({ 'a.v1': record, 'b.v1': record }, ['a.v1']).deliver([event(31), event(34, 'b.v1')]);
    expect(seen).toEqual([[31], [34]]);
    expect(await inbox()).toHaveLength(1);
  });

  test('that keep failing become dead letters, and hold up nobody', async () => {
    const consumer = consumerOf({ 'a.v1': record, 'b.v1': () => Promise.reject(new Error('broken')) }, [
      'a.v1',
      'b.v1',
    ]);
    await consumer.deliver([event(35, 'b.v1'), event(36)]);
    expect(seen.at(-1)).toEqual([36]);
    const letters = await dataSource.query('SELECT deliveries FROM dead_letters WHERE message_id = $1', [event(35).id]);
    expect(letters).toEqual([{ deliveries: 5 }]);
  });
});

describe('a dead letter', () => {
  const handled: unknown[] = [];
  let broken: boolean;
  const handlers = {
    'a.v1': (events: readonly EventEnvelope[]) => {
      if (broken) return Promise.reject(new Error('broken'));
      return Promise.resolve(handled.push(...events.map(({ payload }) => payload)));
    },
  };
  let letters: DeadLetters;
  beforeAll(() => {
    letters = new DeadLetters(dataSource, new Map(Object.entries(handlers)));
  });
  const idsOfLetters = async (): Promise<string[]> =>
    (await letters.list()).deadLetters.map(({ messageId }) => messageId);

  test('is handled by its replay alone, not by another delivery, and once', async () => {
    const consumer = consumerOf(handlers);
    broken = true;
    await consumer.deliver([event(41)]);
    broken = false;
    expect(await idsOfLetters()).toContain(event(41).id);
    // The relay that died before it had moved its cursor hands the message over again.
    await consumer.deliver([event(41), event(42)]);
    expect(handled).toEqual([42]);
    await letters.replay(event(41).id);
    await consumer.deliver([event(41)]);
    expect(handled).toEqual([42, 41]);
    await expect(letters.replay(event(41).id)).rejects.toMatchObject({ code: 'resource.not-found' });
  });

  test('is replayed alone: others stay, listed by the time of their failure and then by their id', async () => {
    const consumer = consumerOf(handlers);
    broken = true;
    await consumer.deliver([event(45), event(43), event(44)]);
    broken = false;
    const own = [43, 44, 45].map((nr) => event(nr).id);
    expect((await idsOfLetters()).filter((id) => own.includes(id))).toEqual(own);
    await letters.replay(own[1]!);
    expect((await idsOfLetters()).filter((id) => own.includes(id))).toEqual([own[0], own[2]]);
  });
});

describe('many dead letters', () => {
  let broken = true;
  const handled: unknown[] = [];
  const handlers: Record<string, EventHandler> = {
    'bulk.v1': (events) => {
      if (broken || events.some(({ payload }) => payload === 1_150)) return Promise.reject(new Error('broken'));
      return Promise.resolve(handled.push(...events.map(({ payload }) => payload)));
    },
  };
  const letters = (): DeadLetters => new DeadLetters(dataSource, new Map(Object.entries(handlers)));
  beforeAll(async () => {
    const rows = Array.from({ length: 430 }, (_, i) => event(1_000 + i, i < 420 ? 'bulk.v1' : 'unhandled.v1'));
    // Many at the same moment: their ids put them in order.
    await dataSource.query(
      `INSERT INTO dead_letters (message_id, type, envelope, error, deliveries, failed_at)
       SELECT (envelope->>'id')::uuid, envelope->>'type', envelope, 'broken', 5, timestamptz '2026-01-01' + nr / 50 * interval '1 minute'
         FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS row (envelope, nr)`,
      [JSON.stringify(rows)],
    );
  });

  test('are listed in pages of 200, each once', async () => {
    const pages: number[] = [];
    const seen = new Set<string>();
    for (let after: string | null | undefined; after !== null;) {
      const page = await letters().list({ type: 'bulk.v1', after });
      pages.push(page.deadLetters.length);
      for (const { messageId } of page.deadLetters) seen.add(messageId);
      after = page.after;
    }
    expect(pages).toEqual([200, 200, 20]);
    expect(seen.size).toBe(420);
    await expect(letters().list({ after: 'nonsense' })).rejects.toMatchObject({ code: 'request.invalid' });
  });

  test('are replayed page after page, each once; those that fail again stay', async () => {
    broken = false;
    const sum = { replayed: 0, failed: 0, pages: 0 };
    for (let after: string | null | undefined; after !== null; sum.pages++) {
      const page = await letters().replayMany({ type: 'bulk.v1', after });
      sum.replayed += page.replayed;
      sum.failed += page.failed;
      after = page.after;
    }
    expect(sum).toEqual({ replayed: 419, failed: 1, pages: 5 });
    expect(new Set(handled).size).toBe(419);
    const left = await letters().list({ type: 'bulk.v1' });
    expect(left.deadLetters.map(({ messageId }) => messageId)).toEqual([event(1_150).id]);
    expect((await letters().list({ type: 'unhandled.v1' })).deadLetters).toHaveLength(10);
  });
});

describe('a failure that may be the database’s', () => {
  const letters = (nr: number): Promise<unknown[]> =>
    dataSource.query('SELECT deliveries FROM dead_letters WHERE message_id = $1', [event(nr).id]);
  const deferred = async (): Promise<number> => {
    const rows = await dataSource.query<unknown[]>(`SELECT 1 FROM deferred_events WHERE reason = 'blocked'`);
    return rows.length;
  };
  const timeOut: EventHandler = async (_, { tx }) => {
    await tx.query(`SET LOCAL statement_timeout = 20`);
    await tx.query('SELECT pg_sleep(5)');
  };
  const timesOutFor =
    (poison: number, handled: unknown[]): EventHandler =>
    async (events, context) => {
      if (events.some(({ payload }) => payload === poison)) await timeOut(events, context);
      handled.push(...events.map(({ payload }) => payload));
    };
  /** As often as the loop would in an hour. */
  async function retryForAnHour(consumer: Consumer): Promise<void> {
    for (let i = 0; i < 60; i++) {
      clock.advance(60_000);
      await consumer.retryDeferred();
    }
  }

  test('a timeout of one message while others of its type succeed ends as a dead letter', async () => {
    const handled: unknown[] = [];
    const consumer = consumerOf({ 'timed.v1': timesOutFor(51, handled) });
    await consumer.deliver([event(51, 'timed.v1'), event(52, 'timed.v1')]);
    expect(handled).toEqual([52]);
    expect(await letters(51)).toEqual([]);
    for (let nr = 53; nr < 58; nr++) {
      expect(await letters(51)).toEqual([]);
      await consumer.deliver([event(nr, 'timed.v1')]);
      clock.advance(60_000);
      await consumer.retryDeferred();
    }
    expect(await letters(51)).toEqual([{ deliveries: 6 }]);
    expect(await deferred()).toBe(0);
    expect(handled).toEqual([52, 53, 54, 55, 56, 57]);
  });

  test('timeouts of all messages of a type use up no deliveries, and other types go on', async () => {
    const handled: unknown[] = [];
    let isLocked = true;
    const consumer = consumerOf({
      'locked.v1': (events, context) =>
        isLocked ? timeOut(events, context) : Promise.resolve(handled.push(...events.map(({ payload }) => payload))),
      'free.v1': (events) => Promise.resolve(handled.push(...events.map(({ payload }) => payload))),
    });
    await consumer.deliver([61, 62, 63, 64].map((nr) => event(nr, 'locked.v1')));
    await consumer.deliver([event(65, 'free.v1'), event(66, 'locked.v1')]);
    expect(handled).toEqual([65]);
    await retryForAnHour(consumer);
    expect(await deferred()).toBe(5);

    isLocked = false;
    await retryForAnHour(consumer);
    expect([...handled].sort()).toEqual([61, 62, 63, 64, 65, 66]);
    expect(await deferred()).toBe(0);
    for (const nr of [61, 62, 63, 64, 66]) expect(await letters(nr)).toEqual([]);
    await consumer.deliver([event(67, 'locked.v1')]);
    expect(handled.at(-1)).toBe(67);
  });

  test('a lock that is not to be had never counts, however many others succeed', async () => {
    let isLocked = true;
    const consumer = consumerOf({
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
    expect(await letters(71)).toEqual([]);
    expect(await deferred()).toBe(1);
    isLocked = false;
    clock.advance(60_000);
    await consumer.retryDeferred();
    expect(await deferred()).toBe(0);
    expect(await letters(71)).toEqual([]);
  });

  test('a lock is waited for briefly, and what it blocked is tried again within seconds, however long it lasts', async () => {
    const waits: string[] = [];
    const consumer = consumerOf({
      'awaited.v1': async (events, { tx }) => {
        const [{ lock_timeout: wait }] = await tx.query<[{ lock_timeout: string }]>('SHOW lock_timeout');
        waits.push(wait);
        await tx.query('INSERT INTO awaited SELECT FROM generate_series(1, $1::int)', [events.length]);
      },
    });
    await dataSource.query('CREATE TABLE awaited ()');
    const lock = dataSource.createQueryRunner();
    await lock.startTransaction();
    await lock.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await lock.query('LOCK TABLE awaited IN SHARE MODE');
    await consumer.deliver([event(111, 'awaited.v1')]);
    // Neither waits for the statement timeout: meanwhile the transaction would hold back every relay of the server.
    expect(waits.splice(0)).toEqual(['2s', '2s']);
    for (let i = 0; i < 10; i++) {
      clock.advance(2_000);
      expect(await consumer.retryDeferred()).toBe(0);
    }
    expect(waits.splice(0)).toEqual(Array.from({ length: 10 }, () => '250ms'));
    await lock.commitTransaction();
    await lock.release();
    clock.advance(2_000);
    expect(await consumer.retryDeferred()).toBe(1);
    expect(await deferred()).toBe(0);
  });

  test('a message that is blocked for a day is a dead letter', async () => {
    const consumer = consumerOf({ 'alone.v1': timeOut });
    await consumer.deliver([event(81, 'alone.v1')]);
    for (let hour = 0; hour < 23; hour++) {
      clock.advance(3_600_000);
      await consumer.retryDeferred();
    }
    expect(await letters(81)).toEqual([]);
    clock.advance(3_600_000);
    await consumer.retryDeferred();
    expect(await letters(81)).toEqual([{ deliveries: 25 }]);
    expect(await deferred()).toBe(0);
  });

  test('a server that has become read-only fails the delivery as a whole', async () => {
    const consumer = consumerOf({
      'written.v1': async (_, { tx }) => {
        await tx.query(`DO $$ BEGIN RAISE EXCEPTION 'read-only' USING ERRCODE = '25006'; END $$`);
      },
    });
    await expect(consumer.deliver([event(91, 'written.v1')])).rejects.toThrow(
      'database of the consumer is unavailable',
    );
    expect(await letters(91)).toEqual([]);
    expect(await deferred()).toBe(0);
  });

  test('a deferred message that then fails by itself becomes a dead letter after five deliveries', async () => {
    let failure: EventHandler = timeOut;
    const consumer = consumerOf({ 'turned.v1': (events, context) => failure(events, context) });
    await consumer.deliver([event(95, 'turned.v1')]);
    expect(await deferred()).toBe(1);
    failure = () => Promise.reject(new Error('cannot be read'));
    clock.advance(60_000);
    await consumer.retryDeferred();
    expect(await letters(95)).toEqual([{ deliveries: 5 }]);
    expect(await deferred()).toBe(0);
  });
});

test('of deferred events those that are due are tried, the longest deferred first, then by their ids', async () => {
  const deferred = new DeferredEvents(dataSource, clock);
  const due = async () => (await deferred.due(new Set(['late.v1']))).map(({ envelope }) => envelope.payload);
  await deferred.defer([event(103, 'late.v1')], 'blocked');
  clock.advance(500);
  await deferred.defer([event(102, 'late.v1')], 'blocked');
  await deferred.defer([event(101, 'late.v1')], 'blocked');
  expect(await due()).toEqual([]);
  clock.advance(500);
  expect(await due()).toEqual([103]);
  clock.advance(500);
  expect(await due()).toEqual([103, 101, 102]);
});
