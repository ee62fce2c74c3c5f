import { ManualClock } from '@svc/testing';
import { CallQueue } from './call-queue.js';
import type { OutgoingCallRepository } from './outgoing-call.repository.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Starts a queue whose next call is due after `dueInMs`. Returns a function that counts its searches for due calls. */
function startQueue(dueInMs: number | undefined) {
  const clock = new ManualClock();
  const findNext = jest.fn(() => undefined);
  const dueAt = dueInMs === undefined ? undefined : clock.later(dueInMs).toISOString();
  const calls = { findNext, nextDueAt: () => dueAt } as unknown as OutgoingCallRepository;
  const queue = new CallQueue({ siteId: 1, name: 'invoices', calls, clock } as unknown as ConstructorParameters<
    typeof CallQueue
  >[0]);
  queue.start();
  return { queue, countSearches: () => findNext.mock.calls.length };
}

test('a queue searches for due calls when it starts, and again when its next call is due', async () => {
  const { queue, countSearches } = startQueue(1_000);
  await jest.advanceTimersByTimeAsync(999);
  expect(countSearches()).toBe(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(countSearches()).toBe(2);
  queue.stop();
});

test('a queue without waiting calls does not search for due calls again', async () => {
  const { queue, countSearches } = startQueue(undefined);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(countSearches()).toBe(1);
  queue.stop();
});
