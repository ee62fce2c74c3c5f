import type { EventEnvelope } from '@svc/contracts';
import { eventType } from '@svc/contracts';
import { inTransaction, newDataSource } from '@svc/persistence';
import { anEvent, ManualClock, newMessagingDatabase, type TestDatabase, waitUntil } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { EmbeddedBroker, EventLog, type MessagingLog, Relay, RELAY_DEFAULTS, type RelaySettings } from '../index.js';

// Replicas of one service: only one of them relays the log, and the others wake it.

const ThingHappenedV1 = eventType<{ text: string }>('thing.happened.v1');
const DEADLINE_MS = 8_000;
/** No test waits so long, so an event that waited for a poll is never delivered. */
const NEVER_MS = 600_000;
/** Enough for the second of two polls. */
const SOON_MS = 50;

interface Replica {
  readonly dataSource: DataSource;
  readonly events: EventLog;
  readonly relay: Relay;
  readonly broker: EmbeddedBroker;
}

let database: TestDatabase;
let clock: ManualClock;
let log: MessagingLog;
let lines: { message: string; err?: unknown }[];
let delivered: string[];
let replicas: Replica[];

beforeEach(async () => {
  clock = new ManualClock();
  database = await newMessagingDatabase();
  delivered = [];
  replicas = [];
  lines = [];
  const write = (fields: object, message: string): number => lines.push({ ...fields, message });
  log = { info: write, warn: write, error: write };
});
afterEach(async () => {
  for (const replica of replicas) await stop(replica);
  await database.drop();
});

/** A broker between processes, so that the processes wake each other. */
class SharedBroker extends EmbeddedBroker {
  readonly connection = {
    state: 'up' as const,
    missingPermissions: [],
    refusals: new Map<string, boolean>(),
    unattached: [],
    waiting: () => Promise.resolve(new Map<string, number>()),
    deadLetters: () => Promise.resolve(0),
  };
}

async function startReplica(settings: Partial<RelaySettings> = {}): Promise<Replica> {
  const dataSource = await newDataSource({
    url: database.url,
    applicationName: `replica ${replicas.length}`,
  }).initialize();
  const broker = new SharedBroker();
  await broker.subscribe({
    name: 'target',
    types: new Set([ThingHappenedV1.name]),
    deliver: (batch: readonly EventEnvelope[]) => {
      for (const { payload } of batch) delivered.push((payload as { text: string }).text);
      return Promise.resolve();
    },
  });
  const events = new EventLog(dataSource, clock);
  const relay = new Relay(dataSource, broker, clock, log, {
    ...RELAY_DEFAULTS,
    pollMs: NEVER_MS,
    listeningPollMs: NEVER_MS,
    leaseMs: NEVER_MS,
    ...settings,
  });
  events.onCommitted = (types) => relay.nudge(types);
  const replica = { dataSource, events, relay, broker };
  replicas.push(replica);
  await relay.start();
  return replica;
}

async function stop(replica: Replica): Promise<void> {
  replicas = replicas.filter((other) => other !== replica);
  await replica.relay.stop();
  await replica.dataSource.destroy();
}

/** Starts the replica that relays, and waits until it listens. */
async function startHolder(settings: Partial<RelaySettings> = {}): Promise<Replica> {
  const holder = await startReplica(settings);
  await waitUntil('the lease', DEADLINE_MS, async () => (await findHolders()).length === 1);
  await waitUntilListening(holder);
  return holder;
}

const findHolders = (): Promise<unknown[]> => replicas[0]!.dataSource.query('SELECT 1 FROM relay_lease');

function append({ dataSource, events }: Replica, ...texts: string[]): Promise<void> {
  return inTransaction(dataSource, (tx) =>
    events.append(
      tx,
      ...texts.map((text) => ({ type: ThingHappenedV1, aggregateId: 'a', aggregateVersion: 1, payload: { text } })),
    ),
  );
}

function expectDelivered(...texts: string[]): Promise<void> {
  return waitUntil('the events', DEADLINE_MS, () => Promise.resolve(delivered.length >= texts.length)).then(() =>
    expect(delivered).toEqual(texts),
  );
}

/** Waits until the replica receives its own check, which proves that it receives the notifications of others. */
function waitUntilListening({ relay }: Replica): Promise<boolean> {
  return waitUntil('the notifications', DEADLINE_MS, () => Promise.resolve(relay.isWokenByOthers));
}

/** The statements with NOTIFY, without the checks of the listening connection. */
function spyOnNotifications({ dataSource }: Replica): () => unknown[] {
  const query = jest.spyOn(dataSource, 'query');
  return () =>
    query.mock.calls.flatMap(([sql, parameters]) =>
      sql.includes('pg_notify') && !JSON.stringify(parameters).includes('check') ? [parameters] : [],
    );
}

test('a commit in a replica without the lease wakes the replica that relays', async () => {
  const holder = await startHolder();
  const other = await startReplica();
  await append(other, 'a');
  await expectDelivered('a');
  await append(holder, 'b');
  await append(other, 'c');
  await expectDelivered('a', 'b', 'c');
});

test('with three replicas, the commits of all replicas wake the one that relays, also after another replica took over', async () => {
  const holder = await startHolder();
  const others = [await startReplica({ leaseMs: 200 }), await startReplica({ leaseMs: 200 })];
  for (const [i, replica] of [holder, ...others].entries()) await append(replica, `${i}`);
  await expectDelivered('0', '1', '2');
  await stop(holder);
  for (const replica of others) {
    await waitUntilListening(replica);
    await append(replica, 'after');
  }
  await expectDelivered('0', '1', '2', 'after', 'after');
  expect(await findHolders()).toHaveLength(1);
});

test('a replica with the lease sends no notification, and another replica sends one for many commits', async () => {
  const holder = await startHolder();
  const notificationsOfHolder = spyOnNotifications(holder);
  await append(holder, 'a');
  await expectDelivered('a');
  expect(notificationsOfHolder()).toEqual([]);

  const other = await startReplica();
  const notifications = spyOnNotifications(other);
  const startedAt = performance.now();
  for (let i = 0; i < 200; i++) other.relay.nudge([ThingHappenedV1.name]);
  await append(other, 'b');
  await expectDelivered('a', 'b');
  // The first notification is sent immediately, and the others at least 5 ms later.
  expect(notifications().length).toBeLessThanOrEqual(2 + (performance.now() - startedAt) / 5);
  expect(notifications()[0]).toEqual([['events']]);
});

test('a replica that lost its listening connection listens again, and then reads what it missed', async () => {
  const holder = await startHolder();
  const other = await startReplica();
  await other.dataSource.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%' AND application_name = 'replica 0'`,
  );
  await waitUntil('the loss', DEADLINE_MS, () => Promise.resolve(lines.length > 0));
  expect(lines.map(({ message }) => message)).toEqual(['relay: no notifications of other replicas, polling instead']);
  await append(other, 'a');
  await waitUntilListening(holder);
  await expectDelivered('a');
  await append(other, 'b');
  await expectDelivered('a', 'b');
});

test('where LISTEN has no effect, the replica says so and polls', async () => {
  // The notifications of this database go nowhere, as they do behind a pooler that changes the session.
  const setUp = await newDataSource({ url: database.url, applicationName: 'set-up' }).initialize();
  await setUp.query(
    `CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT';
     DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$`,
  );
  await setUp.destroy();
  const holder = await startReplica({ pollMs: SOON_MS });
  const other = await startReplica({ pollMs: SOON_MS });
  await waitUntil('the log line', DEADLINE_MS, () => Promise.resolve(lines.length > 0));
  expect(String(lines[0]!.err)).toContain('LISTEN has no effect');
  expect(holder.relay.isWokenByOthers).toBe(false);
  await append(other, 'a');
  await expectDelivered('a');
});

test('a replay request that a replica without the lease accepted is served at once', async () => {
  const holder = await startHolder();
  await append(holder, 'a');
  await expectDelivered('a');
  const other = await startReplica();
  const id = anEvent(ThingHappenedV1, 'a', 1, { text: '' }).id;
  expect(await other.broker.eventReplay.request({ id, service: 'target', type: ThingHappenedV1.name })).toBe(true);
  await waitUntil('the replay', DEADLINE_MS, () => Promise.resolve(delivered.length > 1));
  expect(delivered.slice(0, 2)).toEqual(['a', 'a']);
});
