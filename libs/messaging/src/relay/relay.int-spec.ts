import type { EventEnvelope } from '@svc/contracts';
import { eventType } from '@svc/contracts';
import { inTransaction, newDataSource, type Transaction } from '@svc/persistence';
import { holdLocks, letTimePass, ManualClock, newMessagingDatabase, type TestDatabase, waitUntil } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { findLag } from '../event-log/log-reader.js';
import { EmbeddedBroker, EventLog, type MessagingLog, Relay, RELAY_DEFAULTS } from '../index.js';

// Tests of the limits, retries, order and cursors of a relay. Tests in test/contract/ check that every event is
// delivered.

const ThingHappenedV1 = eventType<{ text: string }>('thing.happened.v1');
const DEADLINE_MS = 8_000;

let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  database = await newMessagingDatabase();
  dataSource = await newDataSource({
    url: database.url,
    applicationName: 'relay test',
  }).initialize();
  events = new EventLog(dataSource, clock);
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

function append(...texts: string[]): Promise<void> {
  return inTransaction(dataSource, (tx) => events.append(tx, ...texts.map(newThingEvent)));
}

function newThingEvent(text: string) {
  return { type: ThingHappenedV1, aggregateId: 'a', aggregateVersion: 1, payload: { text } };
}

function newRecordingLog(): { log: MessagingLog; lines: string[] } {
  const lines: string[] = [];
  const write = (_: object, message: string): number => lines.push(message);
  return { log: { info: write, warn: write, error: write }, lines };
}

/** A broker with one target, which delivers batches with this function. */
async function newBroker(deliver: (batch: readonly EventEnvelope[]) => Promise<void>): Promise<EmbeddedBroker> {
  const broker = new EmbeddedBroker();
  await broker.subscribe({ name: 'target', types: new Set([ThingHappenedV1.name]), deliver });
  return broker;
}

test('a batch is limited in events and bytes, and an event over the byte limit is delivered in a batch of one event', async () => {
  const batches: number[] = [];
  const broker = await newBroker((batch) => Promise.resolve(void batches.push(batch.length)));
  const settings = { ...RELAY_DEFAULTS, maxBatchEvents: 3, maxBatchBytes: 1_000 };
  const relay = new Relay(dataSource, broker, clock, newRecordingLog().log, settings);

  await append(...Array.from({ length: 7 }, () => 'x'));
  expect(await relay.deliverAll()).toBe(7);
  await append(...Array.from({ length: 4 }, () => 'x'.repeat(600)), 'x'.repeat(5_000), 'x');
  expect(await relay.deliverAll()).toBe(6);
  expect(batches).toEqual([3, 3, 1, 2, 2, 1, 1]);
});

test('deliveries to a failing target are retried with backoff and logged less and less often, and succeed after the target recovers', async () => {
  const attemptTimes: number[] = [];
  let isWorking = false;
  const broker = await newBroker(() => {
    attemptTimes.push(performance.now());
    return isWorking ? Promise.resolve() : Promise.reject(new Error('broken'));
  });
  const { log, lines } = newRecordingLog();
  const relay = new Relay(dataSource, broker, clock, log, { ...RELAY_DEFAULTS, listeningPollMs: 5 });
  await append('a');
  await relay.start();
  // Commits nudge the relay during the backoff, and must not shorten it.
  await waitUntil('six attempts', DEADLINE_MS, () => (relay.nudge(), Promise.resolve(attemptTimes.length >= 6)));
  isWorking = true;
  await waitUntil('the log to be delivered', DEADLINE_MS, () => relay.isCaughtUp());
  await waitUntil('the last log line', DEADLINE_MS, () => Promise.resolve(lines.length >= 4));
  await relay.stop();
  const pauses = attemptTimes.slice(1).map((time, i) => time - attemptTimes[i]!);
  expect(pauses.length).toBeGreaterThanOrEqual(6);
  // The pauses are at least 50, 100, 200, … ms. A timer may end up to 2 ms early.
  for (const [i, pauseMs] of pauses.entries()) expect(pauseMs).toBeGreaterThan(25 * 2 ** (i + 1) - 2);
  const failed = 'relay: hand-over failed, will be retried';
  expect(lines).toEqual([failed, failed, failed, 'relay: hand-over works again']);
});

test('stop() does not wait for the end of the pause after a failure', async () => {
  const attemptTimes: number[] = [];
  const broker = await newBroker(() => {
    attemptTimes.push(performance.now());
    return Promise.reject(new Error('broken'));
  });
  const relay = new Relay(dataSource, broker, clock, newRecordingLog().log, RELAY_DEFAULTS);
  await append('a');
  await relay.start();
  await waitUntil('seven attempts', DEADLINE_MS, () => Promise.resolve(attemptTimes.length === 7));
  await relay.stop();
  // The seventh pause is 3.2 s.
  expect(performance.now() - attemptTimes[6]!).toBeLessThan(3_200);
  expect(attemptTimes).toHaveLength(7);
});

describe('a target with a window of two unconfirmed batches', () => {
  interface Batch {
    readonly texts: string[];
    /** Confirms the delivery, or rejects it with the error. */
    readonly settle: (error?: Error) => void;
  }

  /**
   * Starts a relay and waits until two batches of two events are in flight. The test confirms or rejects each batch.
   */
  async function startWithTwoBatches(): Promise<{ relay: Relay; batches: Batch[] }> {
    const batches: Batch[] = [];
    const target = {
      name: 'target',
      window: 2,
      deliver: (batch: readonly EventEnvelope[]) =>
        new Promise<void>((resolve, reject) => {
          const texts = batch.map(({ payload }) => (payload as { text: string }).text);
          batches.push({ texts, settle: (error) => (error ? reject(error) : resolve()) });
        }),
    };
    const broker = new (class extends EmbeddedBroker {
      override targets() {
        return [target];
      }
    })();
    const settings = { ...RELAY_DEFAULTS, maxBatchEvents: 2, listeningPollMs: 5 };
    const relay = new Relay(dataSource, broker, clock, newRecordingLog().log, settings);
    await append(...'abcdef');
    await relay.start();
    await waitUntil('two batches', DEADLINE_MS, () => Promise.resolve(batches.length === 2));
    return { relay, batches };
  }
  const readCursor = async (): Promise<string> =>
    JSON.stringify(await dataSource.query(`SELECT position FROM relay_cursors WHERE target = 'target'`));

  test('receives the third batch only after the first is confirmed, and the cursor moves in the order of the log', async () => {
    const { relay, batches } = await startWithTwoBatches();
    batches[1]!.settle();
    batches[0]!.settle();
    await waitUntil('the third batch', DEADLINE_MS, () => Promise.resolve(batches.length === 3));
    expect(batches.map(({ texts }) => texts.join(''))).toEqual(['ab', 'cd', 'ef']);
    expect(await relay.isCaughtUp()).toBe(false);
    batches[2]!.settle();
    await waitUntil('the cursor to reach the end', DEADLINE_MS, () => relay.isCaughtUp());
    await relay.stop();
  });

  test('receives a failed batch and all later batches again, and its cursor never passes a failed batch', async () => {
    const { relay, batches } = await startWithTwoBatches();
    batches[1]!.settle();
    batches[0]!.settle(new Error('rejected'));
    // After a failure the window is one batch, until a batch is confirmed.
    await waitUntil('the first batch again', DEADLINE_MS, () => Promise.resolve(batches.length === 3));
    expect(await readCursor()).toBe('[]');
    batches[2]!.settle();
    await waitUntil('the other batches', DEADLINE_MS, () => Promise.resolve(batches.length === 5));
    expect(batches.map(({ texts }) => texts.join(''))).toEqual(['ab', 'cd', 'ab', 'cd', 'ef']);
    for (const { settle } of batches.slice(3)) settle();
    await waitUntil('the cursor to reach the end', DEADLINE_MS, () => relay.isCaughtUp());
    await relay.stop();
  });

  test('receives a failing batch again with backoff, because only a confirmed batch counts as a success', async () => {
    const { relay, batches } = await startWithTwoBatches();
    const attemptTimes = [performance.now()];
    batches[1]!.settle();
    batches[0]!.settle(new Error('rejected'));
    for (let i = 2; i < 7; i++) {
      await waitUntil('the next attempt', DEADLINE_MS, () => (relay.nudge(), Promise.resolve(batches.length > i)));
      attemptTimes.push(performance.now());
      batches[i]!.settle(new Error('rejected'));
    }
    const pauses = attemptTimes.slice(1).map((time, i) => time - attemptTimes[i]!);
    // The pauses are at least 50, 100, 200, … ms. A timer may end up to 2 ms early.
    for (const [i, pauseMs] of pauses.entries()) expect(pauseMs).toBeGreaterThan(25 * 2 ** (i + 1) - 2);
    await relay.stop();
  });
});

test('a relay that cannot create partitions during a backup still delivers events, and creates the partitions a minute later', async () => {
  await using backup = await holdLocks(dataSource, 'SELECT FROM event_log');
  const deliveredIds: string[] = [];
  const broker = await newBroker((batch) => Promise.resolve(void deliveredIds.push(...batch.map(({ id }) => id))));
  const { log, lines } = newRecordingLog();
  const relay = new Relay(dataSource, broker, clock, log, { ...RELAY_DEFAULTS, listeningPollMs: 5 });
  await relay.start();
  await append('during the backup');
  await waitUntil('the delivery', DEADLINE_MS, () => Promise.resolve(deliveredIds.length === 1));
  expect(lines).toContain('relay: partitions not created, blocked by a long transaction');

  await backup.release();
  clock.advance(60_000);
  await waitUntil('the partition', DEADLINE_MS, async () => {
    const [{ exists }] = await dataSource.query<[{ exists: boolean }]>(
      `SELECT to_regclass('event_log_' || $1) IS NOT NULL AS exists`,
      [clock.nowISO().slice(0, 7).replace('-', '_')],
    );
    return exists;
  });
  await relay.stop();
});

test('a target may be removed and added again without an error, and receives all events', async () => {
  const broker = new EmbeddedBroker();
  const delivered: string[] = [];
  const subscriber = {
    name: 'target',
    types: new Set([ThingHappenedV1.name]),
    deliver: (batch: readonly EventEnvelope[]) =>
      Promise.resolve(void delivered.push(...batch.map(({ payload }) => (payload as { text: string }).text))),
  };
  const { log, lines } = newRecordingLog();
  const relay = new Relay(dataSource, broker, clock, log, { ...RELAY_DEFAULTS, listeningPollMs: 5 });
  events.onCommitted = (types) => relay.nudge(types);
  await relay.start();
  const subscription = await broker.subscribe(subscriber);
  await append('a');
  await waitUntil('the first event', DEADLINE_MS, () => Promise.resolve(delivered.length === 1));
  await subscription.close();
  await append('b');
  await broker.subscribe(subscriber);
  await waitUntil('the second event', DEADLINE_MS, () => Promise.resolve(delivered.length === 2));
  await relay.stop();
  expect(delivered).toEqual(['a', 'b']);
  expect(lines).toEqual([]);
});

test('a target with maxBatchWaitMs receives all events of that time in one batch, and only the types that it consumes', async () => {
  const batches: string[][] = [];
  const broker = new EmbeddedBroker();
  await broker.subscribe({
    name: 'target',
    types: new Set([ThingHappenedV1.name]),
    // Long enough for the six transactions below on a busy machine.
    maxBatchWaitMs: 2_000,
    deliver: (batch) =>
      Promise.resolve(void batches.push(batch.map(({ payload }) => (payload as { text: string }).text))),
  });
  const relay = new Relay(dataSource, broker, clock, newRecordingLog().log, {
    ...RELAY_DEFAULTS,
    listeningPollMs: 60_000,
  });
  events.onCommitted = (types) => relay.nudge(types);
  await relay.start();
  await waitUntil('the first read of the log', DEADLINE_MS, () => relay.isCaughtUp());
  const otherType = eventType<{ text: string }>('other.happened.v1');
  for (const text of ['a', 'b', 'c']) {
    await append(text);
    await inTransaction(dataSource, (tx) => events.append(tx, { ...newThingEvent('unwanted'), type: otherType }));
  }
  await waitUntil('the events', DEADLINE_MS, () => Promise.resolve(batches.flat().length === 3));
  await relay.stop();
  expect(batches).toEqual([['a', 'b', 'c']]);
  expect(await relay.isCaughtUp()).toBe(true);
});

test('the cursor is saved shortly after a delivery, and when the relay stops', async () => {
  const broker = await newBroker(() => Promise.resolve());
  const relay = new Relay(dataSource, broker, clock, newRecordingLog().log, {
    ...RELAY_DEFAULTS,
    listeningPollMs: 60_000,
  });
  events.onCommitted = (types) => relay.nudge(types);
  const readCursors = (): Promise<unknown[]> => dataSource.query('SELECT txid FROM relay_cursors');
  await relay.start();
  await append('a');
  await waitUntil('the cursor to be saved', DEADLINE_MS, async () => (await readCursors()).length === 1);
  await append('b');
  await relay.stop();
  expect(await relay.isCaughtUp()).toBe(true);
});

test('a target receives events in the order of the log', async () => {
  await append('a', 'b');
  const delivered: unknown[] = [];
  const broker = await newBroker((batch) => Promise.resolve(void delivered.push(...batch)));
  await new Relay(dataSource, broker, clock, newRecordingLog().log).deliverAll();
  expect(delivered).toEqual(
    ['a', 'b'].map((text) => ({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      type: 'thing.happened.v1',
      aggregateId: 'a',
      aggregateVersion: 1,
      occurredAt: '2026-03-01T10:00:00.000Z',
      payload: { text },
    })),
  );
});

test('the release of a savepoint does not wake the relay, but the commit of its transaction wakes the relay', async () => {
  let wakes = 0;
  events.onCommitted = () => wakes++;
  await inTransaction(dataSource, async (tx) => {
    await tx.transaction((inner) => events.append(inner as Transaction, newThingEvent('a')));
    expect(wakes).toBe(0);
  });
  expect(wakes).toBe(1);
});

test('the lag of a target contains the number of waiting events and the time of the oldest waiting event', async () => {
  const broker = await newBroker(() => Promise.resolve());
  expect(await findLag(dataSource, 'target')).toEqual({ waiting: 0, since: null });
  const since = clock.now();
  await append('x', 'y');
  clock.advance(5_000);
  await append('z');
  expect(await findLag(dataSource, 'target')).toEqual({ waiting: 3, since });
  await new Relay(dataSource, broker, clock, newRecordingLog().log).deliverAll();
  expect(await findLag(dataSource, 'target')).toEqual({ waiting: 0, since: null });
});

describe('a relay with seven targets in one process', () => {
  const types = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `${name}.happened.v1`);
  let delivered: string[];
  let relay: Relay;
  let countReads: () => number;

  beforeEach(async () => {
    delivered = [];
    const broker = new EmbeddedBroker();
    for (const [i, type] of types.entries())
      await broker.subscribe({
        name: `target ${i}`,
        types: new Set([ThingHappenedV1.name, type]),
        ...(i < 4 ? { maxBatchWaitMs: 20 } : {}),
        deliver: (batch) => Promise.resolve(void delivered.push(...batch.map((event) => `${i}: ${event.type}`))),
      });
    const settings = { ...RELAY_DEFAULTS, listeningPollMs: 200 };
    relay = new Relay(dataSource, broker, clock, newRecordingLog().log, settings);
    events.onCommitted = (committed) => relay.nudge(committed);
    const query = jest.spyOn(dataSource, 'query');
    countReads = () => query.mock.calls.filter(([sql]) => sql.includes('pg_current_snapshot')).length;
    await relay.start();
  });
  afterEach(() => relay.stop());

  test('reads the log once for the targets without a wait and once for the others, and each gets its own types', async () => {
    await letTimePass(300);
    const readsBefore = countReads();
    await append('x');
    await waitUntil('the deliveries', DEADLINE_MS, () => Promise.resolve(delivered.length === 7));
    // Up to two of the reads are those of polls.
    expect(countReads() - readsBefore).toBeLessThanOrEqual(4);
    for (const type of types)
      await inTransaction(dataSource, (tx) => events.append(tx, { ...newThingEvent('x'), type: { name: type } }));
    await waitUntil('the deliveries', DEADLINE_MS, () => Promise.resolve(delivered.length === 14));
    expect(delivered.slice(7).sort()).toEqual(types.map((type, i) => `${i}: ${type}`));
  });

  test('reads the log once for each poll while there are no events', async () => {
    await append('x');
    await waitUntil('the deliveries', DEADLINE_MS, () => Promise.resolve(delivered.length === 7));
    await letTimePass(1_000);
    const readsBefore = countReads();
    await letTimePass(2_000);
    expect(countReads() - readsBefore).toBeLessThanOrEqual(12);
    expect(countReads() - readsBefore).toBeGreaterThan(5);
  });
});
