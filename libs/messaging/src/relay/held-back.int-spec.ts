/** A transaction in another database of the server holds back a relay: tests of its reports, and of the events that are published directly. */
import { type EventEnvelope, eventType } from '@svc/contracts';
import { inTransaction, newDataSource, type Transaction } from '@svc/persistence';
import {
  GaugeReader,
  ManualClock,
  newTestDatabase,
  type OlderTransaction,
  openOlderTransaction,
  type TestDatabase,
  waitUntil,
} from '@svc/testing';
import type { DataSource } from 'typeorm';
import { DirectPublisher, EmbeddedBroker, EventLog, messagingMigrations, Relay, RELAY_DEFAULTS } from '../index.js';

const ThingHappenedV1 = eventType<{ text: string }>('thing.happened.v1');
const DEADLINE_MS = 10_000;

let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;
let broker: EmbeddedBroker;
let relay: Relay;
let direct: DirectPublisher;
let older: OlderTransaction;
let gauges: GaugeReader;
let delivered: string[];
let refusals: number;
let lines: { message: string; fields: Record<string, unknown> }[];

const write = (fields: object, message: string): number =>
  lines.push({ message, fields: fields as Record<string, unknown> });
const log = { info: write, warn: write, error: write };
const clock = new ManualClock();

beforeEach(async () => {
  database = await newTestDatabase();
  dataSource = await newDataSource({
    url: database.url,
    applicationName: 'held back',
    migrations: messagingMigrations,
  }).initialize();
  await dataSource.runMigrations({ transaction: 'each' });
  [delivered, refusals, lines] = [[], 0, []];
  gauges = GaugeReader.begin();
  broker = new EmbeddedBroker();
  await broker.subscribe({
    name: 'target',
    types: new Set([ThingHappenedV1.name]),
    deliver: (batch: readonly EventEnvelope[]) => {
      if (refusals-- > 0) return Promise.reject(new Error('not taken'));
      delivered.push(...batch.map(({ payload }) => (payload as { text: string }).text));
      return Promise.resolve();
    },
  });
  events = new EventLog(dataSource, clock);
  direct = new DirectPublisher(broker, log);
  relay = new Relay(dataSource, broker, clock, log, { ...RELAY_DEFAULTS, pollMs: 20, heldBackAfterMs: 100 });
  events.publishDirectly = (envelopes) => direct.publish(envelopes);
  older = await openOlderTransaction();
});
afterEach(async () => {
  await relay.stop();
  await direct.close();
  await older.end();
  gauges.end();
  await dataSource.destroy();
  await database.drop();
});

const thing = (text: string) => ({
  type: ThingHappenedV1,
  aggregateId: 'a',
  aggregateVersion: 1,
  payload: { text },
});
const commit = (work: (tx: Transaction) => Promise<void>): Promise<void> => inTransaction(dataSource, work);
const received = (count: number): Promise<boolean> =>
  waitUntil(`${count} events`, DEADLINE_MS, () => Promise.resolve(delivered.length >= count));
const about = (text: string) => lines.filter(({ message }) => message.includes(text));

test('one log warning and a metric name the blocking transaction; the metric ends with the transaction', async () => {
  const queries = jest.spyOn(dataSource, 'query');
  const lookUps = (): number => queries.mock.calls.filter(([sql]) => sql.includes('pg_stat_activity')).length;
  await relay.start();
  expect(await gauges.read('svc.relay.held_back')).toEqual([{ value: 0, attributes: { service: 'held back' } }]);
  await commit((tx) => events.append(tx, thing('a')));
  await waitUntil('the relay to be held back', DEADLINE_MS, () => Promise.resolve(relay.isHeldBack));

  const { pid, application, database: name } = older;
  const holder = { pid, application, database: name, state: 'idle in transaction' };
  const [first] = about('held back by');
  expect(first!.fields['holder']).toEqual({ ...holder, since: expect.stringMatching(/^20.*Z$/) as string });
  const service = 'held back';
  const attributes = { service, 'holder.application': application, 'holder.database': name };
  expect(await gauges.read('svc.relay.held_back')).toEqual([
    { value: expect.any(Number) as number, attributes: { service } },
  ]);
  expect(await gauges.read('svc.relay.holder')).toEqual([{ value: expect.any(Number) as number, attributes }]);
  expect((await gauges.read('svc.relay.holder'))[0]!.value).toBeGreaterThanOrEqual(0.1);

  // The blocking transaction is queried repeatedly, but logged once.
  await waitUntil('three looks', DEADLINE_MS, () => Promise.resolve(lookUps() >= 3));
  expect(about('held back by')).toHaveLength(1);
  await older.end();
  await received(1);
  await waitUntil('the end of it', DEADLINE_MS, () => Promise.resolve(!relay.isHeldBack));
  expect(about('no longer held back')).toHaveLength(1);
  expect(await gauges.read('svc.relay.held_back')).toEqual([{ value: 0, attributes: { service } }]);
  expect(await gauges.read('svc.relay.holder')).toEqual([{ value: 0, attributes }]);
});

test('a role without pg_read_all_stats sees the blocking process, but not its state and start', async () => {
  const role = `watcher_${older.pid}`;
  await dataSource.query(`CREATE ROLE ${role} LOGIN PASSWORD 'watches'`);
  await dataSource.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
  await dataSource.query(`GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`);
  const url = Object.assign(new URL(database.url), { username: role, password: 'watches' });
  const ownRole = await newDataSource({ url: url.href, applicationName: 'watcher' }).initialize();
  const settings = { ...RELAY_DEFAULTS, heldBackAfterMs: 0 };
  const watcher = new Relay(ownRole, broker, clock, log, settings);
  try {
    await commit((tx) => events.append(tx, thing('a')));
    await watcher.runOnce();
    expect(about('held back by')[0]!.fields['holder']).toEqual({
      pid: older.pid,
      application: older.application,
      database: older.database,
    });
  } finally {
    await ownRole.destroy();
    await dataSource.query(`DROP OWNED BY ${role}`);
    await dataSource.query(`DROP ROLE ${role}`);
  }
});

test('an event that is published directly arrives while the relay is held back; other events arrive afterwards', async () => {
  await relay.start();
  await commit((tx) => events.append(tx, thing('waits')));
  await commit((tx) => events.appendAndPublish(tx, thing('revoked')));
  await received(1);
  expect(delivered).toEqual(['revoked']);
  await older.end();
  await received(3);
  expect(delivered).toEqual(['revoked', 'waits', 'revoked']);
});

test('direct publishing to a failing target is retried, and if it still fails, the relay delivers the event', async () => {
  refusals = 2;
  await commit((tx) => events.appendAndPublish(tx, thing('a')));
  await received(1);
  expect(lines).toEqual([]);

  refusals = 6;
  await commit((tx) => events.appendAndPublish(tx, thing('b')));
  await waitUntil('the last attempt', DEADLINE_MS, () => Promise.resolve(about('the relay will').length === 1));
  await older.end();
  await relay.runOnce();
  expect(delivered).toEqual(['a', 'a', 'b']);
});

test('an event that was rolled back is never published, even if only to a savepoint', async () => {
  const failing = async (tx: Transaction): Promise<void> => {
    await events.appendAndPublish(tx, thing('rolled back'));
    throw new Error('no');
  };
  await expect(commit(failing)).rejects.toThrow('no');
  // The release of a savepoint is not a commit.
  const failingAround = async (tx: Transaction): Promise<void> => {
    await tx.transaction((inner) => events.appendAndPublish(inner as Transaction, thing('released and rolled back')));
    throw new Error('no');
  };
  await expect(commit(failingAround)).rejects.toThrow('no');
  await commit(async (tx) => {
    await tx.transaction((inner) => failing(inner as Transaction)).catch(() => undefined);
    await events.appendAndPublish(tx, thing('committed'));
  });
  await received(1);
  await direct.close();
  expect(delivered).toEqual(['committed']);
});
