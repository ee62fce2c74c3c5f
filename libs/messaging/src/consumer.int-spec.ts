import type { EventEnvelope } from '@svc/contracts';
import { newDataSource } from '@svc/persistence';
import { ManualClock, newTestDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { Consumer, type EventHandler, messagingMigrations, type MessagingLog } from './index.js';

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

function consumerOf(handlers: Record<string, EventHandler>): Consumer {
  return new Consumer(dataSource, new Map(Object.entries(handlers)), new ManualClock(), silent);
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

test('a statement that takes too long is the message’s fault, not the database’s', async () => {
  const consumer = consumerOf({
    'a.v1': async (_, { tx }) => {
      await tx.query(`SET LOCAL statement_timeout = 20`);
      await tx.query('SELECT pg_sleep(5)');
    },
  });
  await consumer.deliver([event(21)]);
  const letters = await dataSource.query('SELECT message_id, deliveries FROM dead_letters');
  expect(letters).toEqual([{ message_id: event(21).id, deliveries: 5 }]);
});
