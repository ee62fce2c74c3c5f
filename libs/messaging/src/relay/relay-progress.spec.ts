import type { DataSource } from 'typeorm';
import type { Lease } from './lease.js';
import { RelayLoop } from './relay-loop.js';
import { RelayProgress } from './relay-progress.js';

const at = (position: number) => ({ txid: '1', position, openTxids: [] });

let nowMs: number;
let query: jest.Mock<Promise<unknown[]>>;
let progress: RelayProgress;

beforeEach(() => {
  nowMs = 100_000;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  query = jest.fn(() => Promise.resolve([]));
  progress = new RelayProgress({ query } as unknown as DataSource, 'target');
});
afterEach(() => jest.restoreAllMocks());

test('a saved position is not saved again until it changes', async () => {
  await progress.save();
  expect(query).not.toHaveBeenCalled();
  progress.advance(at(1), true);
  for (let times = 0; times < 2; times++) await progress.save();
  expect(query).toHaveBeenCalledTimes(1);
  progress.advance(at(2), true);
  await progress.save();
  expect(query).toHaveBeenCalledTimes(2);
});

test('a position that stays the same after nothing was read is not saved', async () => {
  progress.advance(await progress.readFrom(), false);
  expect(progress.dueInMs).toBe(Number.POSITIVE_INFINITY);
});

test('a loop saves its position every 250 ms and at its end, not after each batch', async () => {
  progress.advance(at(1), true);
  await progress.save();
  query.mockClear();
  /** Number of saves before each step. */
  const savesBeforeStep: number[] = [];
  const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const lease = { acquireOrRenew: () => Promise.resolve(true), renewalInMs: 1_000 } as Lease;
  let batches = 1;
  const loop: RelayLoop = new RelayLoop(
    {
      name: 'target',
      progress,
      step: () => {
        savesBeforeStep.push(query.mock.calls.length);
        nowMs += 100;
        progress.advance(at(++batches), true);
        if (batches === 5) loop.end();
        return Promise.resolve({ deliveredCount: 1, hasMore: true });
      },
    },
    { lease, log, leaseMs: 1_000, beforeStep: () => Promise.resolve() },
  );
  await loop.run();
  // A step lasts 100 ms, so the position was saved after the third step, and then at the end.
  expect(savesBeforeStep).toEqual([0, 0, 0, 1]);
  expect(query).toHaveBeenCalledTimes(2);
});

test('the position does not move past a batch in flight when a later batch is delivered first', async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  progress.addBatch(at(1), first.promise);
  progress.addBatch(at(2), second.promise);
  second.resolve();
  await second.promise;
  await Promise.resolve();
  expect([progress.isIdle, progress.dueInMs]).toEqual([false, Number.POSITIVE_INFINITY]);
  first.resolve();
  await progress.waitUntilIdle();
  expect(progress.dueInMs).toBe(0);
});

test('the position after skipped events is saved later than the position after delivered events', async () => {
  progress.advance(at(1), true);
  await progress.save();
  progress.advance(at(2), false);
  expect(progress.dueInMs).toBe(10_000);
  progress.advance(at(3), true);
  expect(progress.dueInMs).toBe(250);
});
