import type { EventEnvelope } from '@svc/contracts';
import { newDataSource } from '@svc/persistence';
import { ManualClock, newTestDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { Consumer, DeadLetters, type EventHandler, messagingMigrations, type MessagingLog } from './index.js';

const silent: MessagingLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
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
    new ManualClock(),
    silent,
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
  const idsOfLetters = async (): Promise<string[]> => (await letters.list()).map(({ messageId }) => messageId);

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

test('a statement that takes too long is the message’s fault, not the database’s', async () => {
  const consumer = consumerOf({
    'a.v1': async (_, { tx }) => {
      await tx.query(`SET LOCAL statement_timeout = 20`);
      await tx.query('SELECT pg_sleep(5)');
    },
  });
  await consumer.deliver([event(21)]);
  const letters = await dataSource.query('SELECT deliveries FROM dead_letters WHERE message_id = $1', [event(21).id]);
  expect(letters).toEqual([{ deliveries: 5 }]);
});
