/**
 * A relay is held back if it cannot read committed events because an older transaction is open in any database of the
 * server. These tests check how the relay reports the transaction, and that urgent events are published directly.
 */
import { type EventEnvelope, eventType } from '@svc/contracts';
import { inTransaction, newDataSource, type Transaction } from '@svc/persistence';
import {
  GaugeReader,
  ManualClock,
  newMessagingDatabase,
  type OlderTransaction,
  openOlderTransaction,
  type TestDatabase,
  waitUntil,
} from '@svc/testing';
import type { DataSource } from 'typeorm';
import { DirectPublisher, EmbeddedBroker, EventLog, Relay, RELAY_DEFAULTS } from '../index.js';

const ThingHappenedV1 = eventType<{ text: string }>('thing.happened.v1');
const DEADLINE_MS = 10_000;

let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;
let broker: EmbeddedBroker;
let relay: Relay;
let directPublisher: DirectPublisher;
let olderTransaction: OlderTransaction;
let gauges: GaugeReader;
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
    applicationName: 'held back',
  }).initialize();
  [delivered, deliveriesToReject, logLines] = [[], 0, []];
  gauges = GaugeReader.begin();
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
  relay = new Relay(dataSource, broker, clock, log, { ...RELAY_DEFAULTS, pollMs: 20, heldBackAfterMs: 100 });
  events.publishDirectly = (envelopes) => directPublisher.publish(envelopes);
  olderTransaction = await openOlderTransaction();
});
afterEach(async () => {
  await relay.stop();
  await directPublisher.close();
  await olderTransaction.end();
  gauges.end();
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

test('a log warning and a metric contain the blocking transaction, and the metric is 0 after the transaction ends', async () => {
  const queries = jest.spyOn(dataSource, 'query');
  const countLookups = (): number => queries.mock.calls.filter(([sql]) => sql.includes('pg_stat_activity')).length;
  await relay.start();
  expect(await gauges.read('svc.relay.held_back')).toEqual([{ value: 0, attributes: { service: 'held back' } }]);
  await commit((tx) => events.append(tx, newThingEvent('a')));
  await waitUntil('the relay to be held back', DEADLINE_MS, () => Promise.resolve(relay.isHeldBack));

  const { pid, application, database: name } = olderTransaction;
  const holder = { pid, application, database: name, state: 'idle in transaction' };
  const [warning] = linesWith('held back by');
  expect(warning!.fields['holder']).toEqual({ ...holder, since: expect.stringMatching(/^20.*Z$/) as string });
  const service = 'held back';
  const attributes = { service, 'holder.application': application, 'holder.database': name };
  expect(await gauges.read('svc.relay.held_back')).toEqual([
    { value: expect.any(Number) as number, attributes: { service } },
  ]);
  expect(await gauges.read('svc.relay.holder')).toEqual([{ value: expect.any(Number) as number, attributes }]);
  expect((await gauges.read('svc.relay.holder'))[0]!.value).toBeGreaterThanOrEqual(0.1);

  // The blocking transaction is looked up repeatedly, but logged once.
  await waitUntil('three lookups of the holder', DEADLINE_MS, () => Promise.resolve(countLookups() >= 3));
  expect(linesWith('held back by')).toHaveLength(1);
  await olderTransaction.end();
  await waitForDeliveries(1);
  await waitUntil('the relay to continue', DEADLINE_MS, () => Promise.resolve(!relay.isHeldBack));
  expect(linesWith('no longer held back')).toHaveLength(1);
  expect(await gauges.read('svc.relay.held_back')).toEqual([{ value: 0, attributes: { service } }]);
  expect(await gauges.read('svc.relay.holder')).toEqual([{ value: 0, attributes }]);
});

test('if the database role lacks pg_read_all_stats, the warning contains the blocking process, but not its state and start', async () => {
  const role = `watcher_${olderTransaction.pid}`;
  await dataSource.query(`CREATE ROLE ${role} LOGIN PASSWORD 'watches'`);
  await dataSource.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
  await dataSource.query(`GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`);
  const url = Object.assign(new URL(database.url), { username: role, password: 'watches' });
  const roleDataSource = await newDataSource({ url: url.href, applicationName: 'watcher' }).initialize();
  const settings = { ...RELAY_DEFAULTS, heldBackAfterMs: 0 };
  const watcher = new Relay(roleDataSource, broker, clock, log, settings);
  try {
    await commit((tx) => events.append(tx, newThingEvent('a')));
    await watcher.deliverAll();
    expect(linesWith('held back by')[0]!.fields['holder']).toEqual({
      pid: olderTransaction.pid,
      application: olderTransaction.application,
      database: olderTransaction.database,
    });
  } finally {
    await roleDataSource.destroy();
    await dataSource.query(`DROP OWNED BY ${role}`);
    await dataSource.query(`DROP ROLE ${role}`);
  }
});

test('an event that is published directly arrives while the relay is held back, and other events arrive afterwards', async () => {
  await relay.start();
  await commit((tx) => events.append(tx, newThingEvent('waits')));
  await commit((tx) => events.appendAndPublish(tx, newThingEvent('revoked')));
  await waitForDeliveries(1);
  expect(delivered).toEqual(['revoked']);
  await olderTransaction.end();
  await waitForDeliveries(3);
  expect(delivered).toEqual(['revoked', 'waits', 'revoked']);
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
  await olderTransaction.end();
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
