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

test('SlidingWindow deletes the counters of keys without recent calls, but not of blocked or active keys', async () => {
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
