import type { EventEnvelope } from '@svc/contracts';
import { inTransaction, newDataSource } from '@svc/persistence';
import { ManualClock, newMessagingDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { newNoteEvent, type Note } from '../../test/harness/effects.js';
import { type RelayTarget, TypesRefusedError } from '../broker/broker.js';
import { findCursor } from '../event-log/log-reader.js';
import { SharedLogReader } from '../event-log/shared-log-reader.js';
import { EventLog, RELAY_DEFAULTS } from '../index.js';
import { TargetDelivery } from './target-delivery.js';

// A target refuses the events of some types: which events are delivered, in which order, and when they are tried again.

let database: TestDatabase;
let dataSource: DataSource;
let events: EventLog;
let clock: ManualClock;
let delivered: string[];
let refused: Set<string>;
/** Number of batches that the target refused. */
let refusals: number;
const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };

const target: RelayTarget = {
  name: 'target',
  window: 2,
  deliver: async (batch: readonly EventEnvelope[]) => {
    await Promise.resolve();
    const types = new Set(batch.map(({ type }) => type).filter((type) => refused.has(type)));
    if (types.size > 0) {
      refusals++;
      throw new TypesRefusedError(types);
    }
    delivered.push(...batch.map(({ payload }) => (payload as Note).text));
  },
};

beforeAll(async () => {
  database = await newMessagingDatabase();
  dataSource = await newDataSource({ url: database.url, applicationName: 'delivery test' }).initialize();
});
beforeEach(() => {
  clock = new ManualClock();
  events = new EventLog(dataSource, clock);
  [delivered, refused, refusals] = [[], new Set(), 0];
  jest.clearAllMocks();
});
afterEach(() => dataSource.query('TRUNCATE event_log, relay_cursors'));
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

function newDelivery(maxBatchEvents = 2): TargetDelivery {
  const bounds = { ...RELAY_DEFAULTS, maxBatchEvents };
  const reader = new SharedLogReader(dataSource, bounds, () => [undefined]);
  return new TargetDelivery(target, { dataSource, clock, log, bounds, reader });
}

/** Delivers everything that can be delivered now. Fails if the steps do not end. */
async function deliverAll(delivery: TargetDelivery): Promise<string[]> {
  // The last steps wait until their batches are confirmed.
  for (const isRecovering of [false, true])
    for (let hasMore = true, steps = 0; hasMore; expect(++steps).toBeLessThan(100))
      ({ hasMore } = await delivery.step(isRecovering));
  await delivery.progress.save();
  return delivered.splice(0);
}

/** Appends events with these texts. The part before the number is the type. */
async function append(...texts: string[]): Promise<void> {
  for (const text of texts)
    await inTransaction(dataSource, (tx) =>
      events.append(tx, { ...newNoteEvent(text), type: { name: `${text.replace(/\d/, '')}.v1` } }),
    );
}

test('refused types are delivered later, each in the order of the log, and all other events now', async () => {
  const delivery = newDelivery();
  refused = new Set(['x.v1', 'y.v1']);
  await append('a1', 'x1', 'b1', 'x2', 'y1', 'a2', 'x3', 'b2');
  expect(await deliverAll(delivery)).toEqual(['a1', 'b1', 'a2', 'b2']);
  expect(log.error.mock.calls.map(([fields]) => (fields as { types: string[] }).types)).toEqual([['x.v1'], ['y.v1']]);

  refused.delete('x.v1');
  clock.advance(1_000);
  await append('x4', 'a3');
  expect(await deliverAll(delivery)).toEqual(['a3', 'x1', 'x2', 'x3', 'x4']);
  expect(Object.keys(delivery.progress.held)).toEqual(['y.v1']);
  await append('x5', 'a4');
  expect(await deliverAll(delivery)).toEqual(['x5', 'a4']);

  refused.clear();
  clock.advance(30_000);
  expect(await deliverAll(delivery)).toEqual(['y1']);
  expect((await findCursor(dataSource, 'target')).held).toEqual({});
  await append('y2');
  expect(await deliverAll(delivery)).toEqual(['y2']);
});

test('a refused type is tried again after 1, 2, 4 … 30 seconds', async () => {
  const delivery = newDelivery();
  refused = new Set(['x.v1']);
  await append('x1');
  await deliverAll(delivery);
  const triedAfter: number[] = [];
  for (let pauseSeconds = 0; triedAfter.length < 7; pauseSeconds++) {
    const before = refusals;
    await deliverAll(delivery);
    if (refusals > before) {
      triedAfter.push(pauseSeconds);
      pauseSeconds = 0;
    }
    clock.advance(1_000);
  }
  expect(triedAfter).toEqual([1, 2, 4, 8, 16, 30, 30]);
});

test('the next process continues with the held types of the cursor', async () => {
  refused = new Set(['x.v1']);
  await append('x1', 'a1', 'x2', 'a2');
  expect(await deliverAll(newDelivery())).toEqual(['a1', 'a2']);
  const next = newDelivery();
  await append('a3');
  expect(await deliverAll(next)).toEqual(['a3']);
  refused.clear();
  clock.advance(30_000);
  expect(await deliverAll(next)).toEqual(['x1', 'x2']);
  expect(await deliverAll(newDelivery())).toEqual([]);
});

test('another failure of a held type is an error of the target, and its events stay held', async () => {
  const delivery = newDelivery();
  refused = new Set(['x.v1']);
  await append('x1', 'a1');
  await deliverAll(delivery);
  refused.clear();
  clock.advance(30_000);
  const deliver = jest.spyOn(target, 'deliver').mockRejectedValueOnce(new Error('unavailable'));
  await expect(deliverAll(delivery)).rejects.toThrow('unavailable');
  deliver.mockRestore();
  expect(await deliverAll(delivery)).toEqual(['x1']);
});

test('a target that refuses a type that it was not sent causes an error instead of an endless loop', async () => {
  const delivery = newDelivery();
  await append('a1');
  jest.spyOn(target, 'deliver').mockRejectedValue(new TypesRefusedError(new Set(['x.v1'])));
  await expect(deliverAll(delivery)).rejects.toThrow('The broker refuses x.v1.');
  jest.restoreAllMocks();
});
