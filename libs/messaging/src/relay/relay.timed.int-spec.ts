import type { EventEnvelope } from '@svc/contracts';
import { eventType } from '@svc/contracts';
import { inTransaction, newDataSource, type Transaction } from '@svc/persistence';
import { ManualClock, newTestDatabase, type TestDatabase, waitUntil } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { lagBehind } from '../event-log/log-reader.js';
import { EmbeddedBroker, EventLog, type MessagingLog, messagingMigrations, Relay, RELAY_DEFAULTS } from '../index.js';

// How a relay behaves towards a target. The delivery of events is tested in test/contract/.

const ThingHappenedV1 = eventType<{ text: string }>('thing.happened.v1');
const DEADLINE_MS = 8_000;

let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  database = await newTestDatabase();
  dataSource = await newDataSource({
    url: database.url,
    applicationName: 'relay test',
    migrations: messagingMigrations,
  }).initialize();
  await dataSource.runMigrations({ transaction: 'each' });
  events = new EventLog(dataSource, clock);
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

function append(...texts: string[]): Promise<void> {
  return inTransaction(dataSource, (tx) => events.append(tx, ...texts.map(thing)));
}

function thing(text: string) {
  return { type: ThingHappenedV1, aggregateId: 'a', aggregateVersion: 1, payload: { text } };
}

function recordingLog(): { log: MessagingLog; lines: string[] } {
  const lines: string[] = [];
  const write = (_: object, message: string): number => lines.push(message);
  return { log: { info: write, warn: write, error: write }, lines };
}

/** A broker with one target, which takes batches as the test says. */
async function brokerWith(deliver: (batch: readonly EventEnvelope[]) => Promise<void>): Promise<EmbeddedBroker> {
  const broker = new EmbeddedBroker();
  await broker.subscribe({ name: 'target', types: new Set([ThingHappenedV1.name]), deliver });
  return broker;
}

test('a batch is limited in count and bytes; a larger event is sent alone', async () => {
  const batches: number[] = [];
  const broker = await brokerWith((batch) => Promise.resolve(void batches.push(batch.length)));
  const settings = { ...RELAY_DEFAULTS, batchMax: 3, batchBytesMax: 1_000 };
  const relay = new Relay(dataSource, broker, clock, recordingLog().log, settings);

  await append(...Array.from({ length: 7 }, () => 'x'));
  expect(await relay.runOnce()).toBe(7);
  await append(...Array.from({ length: 4 }, () => 'x'.repeat(600)), 'x'.repeat(5_000), 'x');
  expect(await relay.runOnce()).toBe(6);
  expect(batches).toEqual([3, 3, 1, 2, 2, 1, 1]);
});

test('a target that always fails is retried with backoff, logged less and less often, and delivered to after it recovers', async () => {
  const tries: number[] = [];
  let mended = false;
  const broker = await brokerWith(() => {
    tries.push(performance.now());
    return mended ? Promise.resolve() : Promise.reject(new Error('broken'));
  });
  const { log, lines } = recordingLog();
  const relay = new Relay(dataSource, broker, clock, log, { ...RELAY_DEFAULTS, pollMs: 5 });
  await append('a');
  await relay.start();
  // Commits continue meanwhile, and must not shorten the backoff.
  await waitUntil('six tries', DEADLINE_MS, () => (relay.nudge(), Promise.resolve(tries.length >= 6)));
  mended = true;
  await waitUntil('the log to be handed over', DEADLINE_MS, () => relay.isCaughtUp());
  await waitUntil('the last line', DEADLINE_MS, () => Promise.resolve(lines.length >= 4));
  await relay.stop();
  const pauses = tries.slice(1).map((at, i) => at - tries[i]!);
  expect(pauses.length).toBeGreaterThanOrEqual(6);
  for (const [i, pauseMs] of pauses.entries()) expect(pauseMs).toBeGreaterThan(25 * 2 ** (i + 1) - 2);
  const failed = 'relay: hand-over failed, will be retried';
  expect(lines).toEqual([failed, failed, failed, 'relay: hand-over works again']);
});

test('while an older transaction is open, the relay polls less and less often', async () => {
  const broker = await brokerWith(() => Promise.resolve());
  const relay = new Relay(dataSource, broker, clock, recordingLog().log, { ...RELAY_DEFAULTS, pollMs: 100 });
  events.onCommitted = (types) => relay.nudge(types);
  const open = dataSource.createQueryRunner();
  await open.startTransaction();
  await open.query('SELECT pg_current_xact_id()');
  await relay.start();
  const query = jest.spyOn(dataSource, 'query');
  await append('a');
  const from = performance.now();
  await waitUntil('a second to pass', DEADLINE_MS, () => Promise.resolve(performance.now() - from > 1_000));
  // 2, 4, 8, … 64, then each poll: not hundreds.
  expect(query.mock.calls.length).toBeGreaterThan(5);
  expect(query.mock.calls.length).toBeLessThan(50);
  await open.commitTransaction();
  await open.release();
  await waitUntil('the log to be handed over', DEADLINE_MS, () => relay.isCaughtUp());
  await relay.stop();
});

test('a stop does not wait for the pause after a failure', async () => {
  const broker = await brokerWith(() => Promise.reject(new Error('broken')));
  const { log, lines } = recordingLog();
  const relay = new Relay(dataSource, broker, clock, log, RELAY_DEFAULTS);
  await append('a');
  await relay.start();
  await waitUntil('the fourth failure', DEADLINE_MS, () => Promise.resolve(lines.length >= 3));
  const from = performance.now();
  await relay.stop();
  expect(performance.now() - from).toBeLessThan(300);
});

describe('a target that accepts batches before the first is confirmed', () => {
  interface Given {
    readonly texts: string[];
    readonly settle: (error?: Error) => void;
  }

  /** Two concurrent batches of two events; the test confirms or rejects each. */
  async function started(): Promise<{ relay: Relay; given: Given[] }> {
    const given: Given[] = [];
    const target = {
      name: 'target',
      window: 2,
      deliver: (batch: readonly EventEnvelope[]) =>
        new Promise<void>((resolve, reject) => {
          const texts = batch.map(({ payload }) => (payload as { text: string }).text);
          given.push({ texts, settle: (error) => (error ? reject(error) : resolve()) });
        }),
    };
    const broker = new (class extends EmbeddedBroker {
      override targets() {
        return [target];
      }
    })();
    const settings = { ...RELAY_DEFAULTS, batchMax: 2, pollMs: 5 };
    const relay = new Relay(dataSource, broker, clock, recordingLog().log, settings);
    await append(...'abcdef');
    await relay.start();
    await waitUntil('two batches', DEADLINE_MS, () => Promise.resolve(given.length === 2));
    return { relay, given };
  }
  const cursor = async (): Promise<string> =>
    JSON.stringify(await dataSource.query(`SELECT position FROM relay_cursors WHERE target = 'target'`));

  test('receives no more than its window, and the cursor moves in the order of the log', async () => {
    const { relay, given } = await started();
    given[1]!.settle();
    given[0]!.settle();
    await waitUntil('the third', DEADLINE_MS, () => Promise.resolve(given.length === 3));
    expect(given.map(({ texts }) => texts.join(''))).toEqual(['ab', 'cd', 'ef']);
    expect(await relay.isCaughtUp()).toBe(false);
    given[2]!.settle();
    await waitUntil('the cursor', DEADLINE_MS, () => relay.isCaughtUp());
    await relay.stop();
  });

  test('receives failed and later batches again; the cursor never passes a failure', async () => {
    const { relay, given } = await started();
    given[1]!.settle();
    given[0]!.settle(new Error('not taken'));
    // It is sent alone until it is confirmed.
    await waitUntil('the first again', DEADLINE_MS, () => Promise.resolve(given.length === 3));
    expect(await cursor()).toBe('[]');
    given[2]!.settle();
    await waitUntil('the others again', DEADLINE_MS, () => Promise.resolve(given.length === 5));
    expect(given.map(({ texts }) => texts.join(''))).toEqual(['ab', 'cd', 'ab', 'cd', 'ef']);
    for (const { settle } of given.slice(3)) settle();
    await waitUntil('the cursor', DEADLINE_MS, () => relay.isCaughtUp());
    await relay.stop();
  });

  test('is retried with backoff while it fails: the start of a batch does not count as a success', async () => {
    const { relay, given } = await started();
    const begunAt = [performance.now()];
    given[1]!.settle();
    given[0]!.settle(new Error('not taken'));
    for (let i = 2; i < 7; i++) {
      await waitUntil('the next try', DEADLINE_MS, () => (relay.nudge(), Promise.resolve(given.length > i)));
      begunAt.push(performance.now());
      given[i]!.settle(new Error('not taken'));
    }
    const pauses = begunAt.slice(1).map((at, i) => at - begunAt[i]!);
    for (const [i, pauseMs] of pauses.entries()) expect(pauseMs).toBeGreaterThan(25 * 2 ** (i + 1) - 2);
    await relay.stop();
  });
});

test('a relay that cannot create partitions during a backup still delivers events, and creates the partitions a minute later', async () => {
  const backup = dataSource.createQueryRunner();
  await backup.startTransaction();
  await backup.query('SELECT FROM event_log');
  const given: string[] = [];
  const broker = await brokerWith((batch) => Promise.resolve(void given.push(...batch.map(({ id }) => id))));
  const { log, lines } = recordingLog();
  const relay = new Relay(dataSource, broker, clock, log, { ...RELAY_DEFAULTS, pollMs: 5 });
  await relay.start();
  await append('while it is under way');
  await waitUntil('the hand-over', DEADLINE_MS, () => Promise.resolve(given.length === 1));
  expect(lines).toContain('relay: partitions not created, blocked by a long transaction');

  await backup.commitTransaction();
  await backup.release();
  clock.advance(60_000);
  await waitUntil('the partition', DEADLINE_MS, async () => {
    const [{ made }] = await dataSource.query<[{ made: boolean }]>(
      `SELECT to_regclass('event_log_' || $1) IS NOT NULL AS made`,
      [clock.nowISO().slice(0, 7).replace('-', '_')],
    );
    return made;
  });
  await relay.stop();
});

test('a target that is removed is dropped without an error', async () => {
  const broker = new EmbeddedBroker();
  const delivered: string[] = [];
  const subscriber = {
    name: 'target',
    types: new Set([ThingHappenedV1.name]),
    deliver: (batch: readonly EventEnvelope[]) =>
      Promise.resolve(void delivered.push(...batch.map(({ payload }) => (payload as { text: string }).text))),
  };
  const { log, lines } = recordingLog();
  const relay = new Relay(dataSource, broker, clock, log, { ...RELAY_DEFAULTS, pollMs: 5 });
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

test('a target with a batching time receives together the events of that time, and only the types that it consumes', async () => {
  const batches: string[][] = [];
  const broker = new EmbeddedBroker();
  await broker.subscribe({
    name: 'target',
    types: new Set([ThingHappenedV1.name]),
    gatherMs: 200,
    deliver: (batch) =>
      Promise.resolve(void batches.push(batch.map(({ payload }) => (payload as { text: string }).text))),
  });
  const relay = new Relay(dataSource, broker, clock, recordingLog().log, { ...RELAY_DEFAULTS, pollMs: 60_000 });
  events.onCommitted = (types) => relay.nudge(types);
  await relay.start();
  await waitUntil('the first look', DEADLINE_MS, () => relay.isCaughtUp());
  const other = eventType<{ text: string }>('other.happened.v1');
  for (const text of ['a', 'b', 'c']) {
    await append(text);
    await inTransaction(dataSource, (tx) => events.append(tx, { ...thing('unwanted'), type: other }));
  }
  await waitUntil('the events', DEADLINE_MS, () => Promise.resolve(batches.flat().length === 3));
  await relay.stop();
  expect(batches).toEqual([['a', 'b', 'c']]);
  expect(await relay.isCaughtUp()).toBe(true);
});

test('the cursor is saved shortly after a delivery, and at a stop', async () => {
  const broker = await brokerWith(() => Promise.resolve());
  const relay = new Relay(dataSource, broker, clock, recordingLog().log, { ...RELAY_DEFAULTS, pollMs: 60_000 });
  events.onCommitted = (types) => relay.nudge(types);
  const cursors = (): Promise<unknown[]> => dataSource.query('SELECT txid FROM relay_cursors');
  await relay.start();
  await append('a');
  await waitUntil('the cursor to be saved by itself', DEADLINE_MS, async () => (await cursors()).length === 1);
  await append('b');
  await relay.stop();
  expect(await relay.isCaughtUp()).toBe(true);
});

test('a target receives events in the order of the log', async () => {
  await append('a', 'b');
  const delivered: unknown[] = [];
  const broker = await brokerWith((batch) => Promise.resolve(void delivered.push(...batch)));
  await new Relay(dataSource, broker, clock, recordingLog().log).runOnce();
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

test('a savepoint does not wake the relay; the commit of its transaction does', async () => {
  let wakes = 0;
  events.onCommitted = () => wakes++;
  await inTransaction(dataSource, async (tx) => {
    await tx.transaction((inner) => events.append(inner as Transaction, thing('a')));
    expect(wakes).toBe(0);
  });
  expect(wakes).toBe(1);
});

test('the lag of a target contains the number of waiting events and the time of the oldest', async () => {
  const broker = await brokerWith(() => Promise.resolve());
  expect(await lagBehind(dataSource, 'target')).toEqual({ waiting: 0, since: null });
  const since = clock.now();
  await append('x', 'y');
  clock.advance(5_000);
  await append('z');
  expect(await lagBehind(dataSource, 'target')).toEqual({ waiting: 3, since });
  await new Relay(dataSource, broker, clock, recordingLog().log).runOnce();
  expect(await lagBehind(dataSource, 'target')).toEqual({ waiting: 0, since: null });
});
