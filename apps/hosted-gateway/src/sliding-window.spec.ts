import { ThrottlerStorageService } from '@nestjs/throttler';
import { ManualClock } from '@svc/testing';
import fc from 'fast-check';
import { SlidingWindow } from './sliding-window.js';

const WINDOW_MS = 60_000;

let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
  jest.useFakeTimers({ now: clock.now() });
});
afterEach(() => jest.useRealTimers());

/** Advances the clock of SlidingWindow, and the system time, which the library reads. */
function advance(ms: number): void {
  clock.advance(ms);
  jest.setSystemTime(clock.now());
}

test('a call at the end of a window begins the next window', async () => {
  const window = new SlidingWindow(clock);
  const increment = () => window.increment('key', WINDOW_MS, 5, WINDOW_MS);
  await increment();
  advance(WINDOW_MS / 2);
  await increment();
  advance(WINDOW_MS / 2);
  expect(await increment()).toMatchObject({ totalHits: 2, timeToExpire: WINDOW_MS / 1_000 });
});

test('a key is blocked until the end of its block, and at the end its calls are counted again', async () => {
  const window = new SlidingWindow(clock);
  const increment = () => window.increment('key', WINDOW_MS, 1, WINDOW_MS / 3);
  await increment();
  expect(await increment()).toMatchObject({ isBlocked: true });
  advance(WINDOW_MS / 3 - 1);
  expect(await increment()).toMatchObject({ isBlocked: true });
  advance(1);
  expect(await increment()).toMatchObject({ isBlocked: false, totalHits: 1 });
});

// SlidingWindow counts the calls of each key within a window of time. If a key exceeds its limit, it is blocked for a
// time. The library is @nestjs/throttler: SlidingWindow replaces its ThrottlerStorageService.
test('SlidingWindow returns the same results as ThrottlerStorageService of the library, for any keys and times', async () => {
  const call = fc.record({
    waitMs: fc.oneof(fc.constantFrom(0, WINDOW_MS / 3, WINDOW_MS), fc.nat(2_000), fc.nat(2 * WINDOW_MS)),
    key: fc.constantFrom('key 1', 'key 2'),
    times: fc.integer({ min: 1, max: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { maxLength: 60 }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom(WINDOW_MS, WINDOW_MS / 3, 3 * WINDOW_MS),
      async (calls, limit, blockMs) => {
        const [window, library] = [new SlidingWindow(clock), new ThrottlerStorageService()];
        for (const { waitMs, key, times } of calls) {
          advance(waitMs);
          for (let count = 0; count < times; count++) {
            const expected = await library.increment(key, WINDOW_MS, limit, blockMs, 'calls');
            // For a key that is not blocked the library returns a time in the past, which no caller reads.
            const timeToBlockExpire = expected.isBlocked ? expected.timeToBlockExpire : 0;
            expect(await window.increment(key, WINDOW_MS, limit, blockMs)).toEqual({ ...expected, timeToBlockExpire });
          }
        }
        library.onApplicationShutdown();
      },
    ),
  );
});

test('SlidingWindow deletes only the counters of keys that have no recent calls and are not blocked', async () => {
  const window = new SlidingWindow(clock);
  for (const key of ['inactive', 'active', 'blocked']) await window.increment(key, WINDOW_MS, 1, 10 * WINDOW_MS);
  await window.increment('blocked', WINDOW_MS, 1, 10 * WINDOW_MS);
  advance(WINDOW_MS / 2);
  await window.increment('active', WINDOW_MS, 5, WINDOW_MS);
  advance(WINDOW_MS / 2);
  await window.increment('new', WINDOW_MS, 1, WINDOW_MS);
  expect(window.size).toBe(3);
  expect(await window.increment('active', WINDOW_MS, 5, WINDOW_MS)).toMatchObject({ totalHits: 2 });
  expect(await window.increment('blocked', WINDOW_MS, 1, 10 * WINDOW_MS)).toMatchObject({ isBlocked: true });
});

test('SlidingWindow starts a new window at the first call after the previous window of the key has ended', async () => {
  const [window, library] = [new SlidingWindow(clock), new ThrottlerStorageService()];
  await window.increment('another', WINDOW_MS, 5, WINDOW_MS);
  advance(WINDOW_MS / 3);
  for (const waitMs of [0, WINDOW_MS]) {
    advance(waitMs);
    const expected = await library.increment('key', WINDOW_MS, 5, WINDOW_MS, 'calls');
    const counted = await window.increment('key', WINDOW_MS, 5, WINDOW_MS);
    expect(counted).toMatchObject({ totalHits: 1, timeToExpire: expected.timeToExpire });
    expect(expected.timeToExpire).toBe(60);
  }
  library.onApplicationShutdown();
});

test('SlidingWindow deletes the counter of a blocked key as soon as the block ends', async () => {
  const window = new SlidingWindow(clock);
  for (let call = 0; call < 2; call++) await window.increment('blocked', WINDOW_MS, 1, 2 * WINDOW_MS);
  advance(2 * WINDOW_MS);
  await window.increment('new', WINDOW_MS, 1, WINDOW_MS);
  expect(window.size).toBe(1);
});

test('SlidingWindow continues a window after the end of a block if the window began during the block', async () => {
  const [window, library] = [new SlidingWindow(clock), new ThrottlerStorageService()];
  const increment = async (key: string) => ({
    counted: await window.increment(key, WINDOW_MS, 1, 1.5 * WINDOW_MS),
    expected: await library.increment(key, WINDOW_MS, 1, 1.5 * WINDOW_MS, 'calls'),
  });
  for (let call = 0; call < 2; call++) await increment('blocked');
  advance(WINDOW_MS);
  await increment('another');
  advance(10_000);
  const { counted: whileBlocked } = await increment('blocked');
  expect(whileBlocked).toMatchObject({ isBlocked: true, timeToExpire: 60 });
  // The block has ended, and all of its calls have left the window, when another key's call deletes expired counters.
  advance(WINDOW_MS - 10_000);
  await increment('another');
  const { counted, expected } = await increment('blocked');
  expect(counted).toMatchObject({ isBlocked: false, totalHits: 1, timeToExpire: 10 });
  expect(expected).toMatchObject({ isBlocked: false, totalHits: 1, timeToExpire: 10 });
  library.onApplicationShutdown();
});

test('SlidingWindow deletes expired counters only once a minute, because it reads the counters of all keys', async () => {
  const window = new SlidingWindow(clock);
  await window.increment('short', 1_000, 1, 1_000);
  const sizes: number[] = [];
  for (const waitMs of [30_000, 29_999, 1]) {
    advance(waitMs);
    await window.increment('another', WINDOW_MS, 5, WINDOW_MS);
    sizes.push(window.size);
  }
  expect(sizes).toEqual([2, 2, 1]);
});
