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

test('a loop saves its position every 250 ms and at its end, not after each batch', async () => {
  progress.advance({ txid: '1', position: 1 }, true);
  await progress.save();
  query.mockClear();
  /** Number of saves before each step. */
  const savesBeforeStep: number[] = [];
  const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const lease = { acquireOrRenew: () => Promise.resolve(true) } as Lease;
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
    { lease, log, pollMs: 1, leaseMs: 1_000, beforeStep: () => Promise.resolve() },
  );
  await loop.run();
  // A step lasts 100 ms, so the position was saved after the third step, and then at the end.
  expect(savesBeforeStep).toEqual([0, 0, 0, 1]);
  expect(query).toHaveBeenCalledTimes(2);
});
