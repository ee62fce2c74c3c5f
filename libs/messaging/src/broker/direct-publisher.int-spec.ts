/** Urgent events are published directly after their commit, and again by the relay. */
import { type EventEnvelope, eventType } from '@svc/contracts';
import { inTransaction, newDataSource, type Transaction } from '@svc/persistence';
import { ManualClock, newMessagingDatabase, openOlderTransaction, type TestDatabase, waitUntil } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { DirectPublisher, EmbeddedBroker, EventLog, Relay } from '../index.js';

const ThingHappenedV1 = eventType<{ text: string }>('thing.happened.v1');
const DEADLINE_MS = 10_000;

let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;
let broker: EmbeddedBroker;
let relay: Relay;
let directPublisher: DirectPublisher;
let delivered: string[];
let deliveriesToReject: number;
let logLines: { message: string; fields: Record<string, unknown> }[];

const write = (fields: object, message: string): number =>
  logLines.push({ message, fields: fields as Record<string, unknown> });
const log = { info: write, warn: write, error: write };
const clock = new ManualClock();

beforeEach(async () => {
  database = await newMessagingDatabase();
  dataSource = await newDataSource({
    url: database.url,
    applicationName: 'direct publisher',
  }).initialize();
  [delivered, deliveriesToReject, logLines] = [[], 0, []];
  broker = new EmbeddedBroker();
  await broker.subscribe({
    name: 'target',
    types: new Set([ThingHappenedV1.name]),
    deliver: (batch: readonly EventEnvelope[]) => {
      if (deliveriesToReject-- > 0) return Promise.reject(new Error('rejected'));
      delivered.push(...batch.map(({ payload }) => (payload as { text: string }).text));
      return Promise.resolve();
    },
  });
  events = new EventLog(dataSource, clock);
  directPublisher = new DirectPublisher(broker, log);
  relay = new Relay(dataSource, broker, clock, log);
  events.publishDirectly = (envelopes) => directPublisher.publish(envelopes);
});
afterEach(async () => {
  await relay.stop();
  await directPublisher.close();
  await dataSource.destroy();
  await database.drop();
});

const newThingEvent = (text: string) => ({
  type: ThingHappenedV1,
  aggregateId: 'a',
  aggregateVersion: 1,
  payload: { text },
});
const commit = (action: (tx: Transaction) => Promise<void>): Promise<void> => inTransaction(dataSource, action);
const waitForDeliveries = (count: number): Promise<boolean> =>
  waitUntil(`${count} events`, DEADLINE_MS, () => Promise.resolve(delivered.length >= count));
const linesWith = (text: string) => logLines.filter(({ message }) => message.includes(text));

test('an older transaction in another database delays no event', async () => {
  await using olderTransaction = await openOlderTransaction();
  await relay.start();
  await commit((tx) => events.append(tx, newThingEvent('a')));
  await waitForDeliveries(1);
  expect(await waitUntil('the cursor to move', DEADLINE_MS, () => relay.isCaughtUp())).toBe(true);
  await olderTransaction.end();
});

test('an event that is published directly is also published by the relay', async () => {
  await commit((tx) => events.appendAndPublish(tx, newThingEvent('revoked')));
  await waitForDeliveries(1);
  await relay.deliverAll();
  expect(delivered).toEqual(['revoked', 'revoked']);
});

test('direct publishing to a failing target is retried, and if it still fails, the relay delivers the event', async () => {
  deliveriesToReject = 2;
  await commit((tx) => events.appendAndPublish(tx, newThingEvent('a')));
  await waitForDeliveries(1);
  expect(logLines).toEqual([]);

  // The direct publisher makes six attempts.
  deliveriesToReject = 6;
  await commit((tx) => events.appendAndPublish(tx, newThingEvent('b')));
  await waitUntil('the last attempt', DEADLINE_MS, () => Promise.resolve(linesWith('the relay will').length === 1));
  await relay.deliverAll();
  expect(delivered).toEqual(['a', 'a', 'b']);
});

test('an event that was rolled back is never published, even if the rollback was only to a savepoint', async () => {
  const appendAndFail = async (tx: Transaction): Promise<void> => {
    await events.appendAndPublish(tx, newThingEvent('rolled back'));
    throw new Error('no');
  };
  await expect(commit(appendAndFail)).rejects.toThrow('no');
  // The release of a savepoint is not a commit.
  const appendInSavepointAndFail = async (tx: Transaction): Promise<void> => {
    await tx.transaction((inner) =>
      events.appendAndPublish(inner as Transaction, newThingEvent('released and rolled back')),
    );
    throw new Error('no');
  };
  await expect(commit(appendInSavepointAndFail)).rejects.toThrow('no');
  await commit(async (tx) => {
    await tx.transaction((inner) => appendAndFail(inner as Transaction)).catch(() => undefined);
    await events.appendAndPublish(tx, newThingEvent('committed'));
  });
  await waitForDeliveries(1);
  await directPublisher.close();
  expect(delivered).toEqual(['committed']);
});
