import type { DataSource } from 'typeorm';
import type { Lease } from './lease.js';
import { RelayLoop } from './relay-loop.js';
import { RelayProgress } from './relay-progress.js';

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
  progress.advance({ txid: '1', position: 1 }, true);
  for (let times = 0; times < 2; times++) await progress.save();
  expect(query).toHaveBeenCalledTimes(1);
  progress.advance({ txid: '1', position: 2 }, true);
  await progress.save();
  expect(query).toHaveBeenCalledTimes(2);
});

test('a position that stays the same after nothing was read is not saved', async () => {
  progress.advance(await progress.readFrom(), false);
  expect(progress.dueInMs).toBe(Number.POSITIVE_INFINITY);
});

test('a loop saves its position every 250 ms and at its end, not after each batch', async () => {
  progress.advance({ txid: '1', position: 1 }, true);
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
        progress.advance({ txid: '1', position: ++batches }, true);
        if (batches === 5) loop.end();
        return Promise.resolve({ deliveredCount: 1, hasMore: true, isBlocked: false });
      },
    },
    { lease, log, pollMs: () => 1, blockedPollMs: 1, leaseMs: 1_000, beforeStep: () => Promise.resolve() },
  );
  await loop.run();
  // A step lasts 100 ms, so the position was saved after the third step, and then at the end.
  expect(savesBeforeStep).toEqual([0, 0, 0, 1]);
  expect(query).toHaveBeenCalledTimes(2);
});

test('the position does not move past a batch in flight when a later batch is delivered first', async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  progress.addBatch({ txid: '1', position: 1 }, first.promise);
  progress.addBatch({ txid: '1', position: 2 }, second.promise);
  second.resolve();
  await second.promise;
  await Promise.resolve();
  expect([progress.isIdle, progress.dueInMs]).toEqual([false, Number.POSITIVE_INFINITY]);
  first.resolve();
  await progress.waitUntilIdle();
  expect(progress.dueInMs).toBe(0);
});

test('the position after skipped events is saved later than the position after delivered events', async () => {
  progress.advance({ txid: '1', position: 1 }, true);
  await progress.save();
  progress.advance({ txid: '1', position: 2 }, false);
  expect(progress.dueInMs).toBe(10_000);
  progress.advance({ txid: '1', position: 3 }, true);
  expect(progress.dueInMs).toBe(250);
});

test('a loop reads blocked events again after 2 ms, and waits twice as long after each step without a delivery', async () => {
  jest.useFakeTimers();
  const deliveredCounts = [0, 0, 0, 1, 0, 0];
  const stepTimes: number[] = [];
  const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const lease = { acquireOrRenew: () => Promise.resolve(true), renewalInMs: 1_000 } as Lease;
  const loop: RelayLoop = new RelayLoop(
    {
      name: 'target',
      step: () => {
        stepTimes.push(Date.now());
        const deliveredCount = deliveredCounts[stepTimes.length - 1]!;
        if (stepTimes.length === deliveredCounts.length) loop.end();
        return Promise.resolve({ deliveredCount, hasMore: false, isBlocked: true });
      },
    },
    { lease, log, pollMs: () => 1_000, blockedPollMs: 1_000, leaseMs: 10_000, beforeStep: () => Promise.resolve() },
  );
  const ended = loop.run();
  await jest.advanceTimersByTimeAsync(100);
  await ended;
  jest.useRealTimers();
  expect(stepTimes.slice(1).map((time, at) => time - stepTimes[at]!)).toEqual([2, 4, 8, 2, 4]);
});
