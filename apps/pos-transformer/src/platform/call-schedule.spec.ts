import { SvcApiError } from '@svc/sdk';
import { ManualClock } from '@svc/testing';
import { CallQueue } from './call-queue.js';
import type { OutgoingCallRepository } from './outgoing-call.repository.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/**
 * Starts a queue whose first call is sent once, and then waits with the given failure of the platform. Returns functions
 * that count the searches for due calls, and that let time pass.
 */
function startQueue(httpStatus: number | undefined) {
  const clock = new ManualClock();
  const call = { callId: 1, kind: 'create-invoice', attempts: 0, failures: 0 };
  const isWaiting = httpStatus !== undefined;
  const isPostponed = (ids: readonly number[]): boolean => ids.includes(call.callId);
  const findNext = jest.fn((_site: number, _queue: string, ids: readonly number[]) =>
    isWaiting && !isPostponed(ids) ? call : undefined,
  );
  const calls = {
    findNext,
    hasDueCall: (_site: number, _queue: string, ids: readonly number[]) => isWaiting && !isPostponed(ids),
    countAttempt: () => undefined,
    recordFailure: () => undefined,
  } as unknown as OutgoingCallRepository;
  const error = new SvcApiError({ httpStatus: httpStatus ?? 0, status: 'InternalServer', errors: [], retryable: true });
  const handlers = { 'create-invoice': { send: () => Promise.reject(error) } };
  const errors: string[] = [];
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (_: object, message: string) => errors.push(message),
  };
  const failSearches = (): void =>
    void findNext.mockImplementation(() => {
      throw new Error('the disk is full');
    });
  const learnTime = (): Promise<void> => Promise.resolve();
  const queue = new CallQueue({
    siteId: 1,
    name: 'invoices',
    calls,
    handlers,
    clock,
    log,
    learnTime,
  } as unknown as ConstructorParameters<typeof CallQueue>[0]);
  queue.start();
  const letTimePass = async (milliseconds: number): Promise<void> => {
    clock.advance(milliseconds);
    await jest.advanceTimersByTimeAsync(milliseconds);
  };
  return { queue, clock, errors, failSearches, letTimePass, countSearches: () => findNext.mock.calls.length };
}

// Without jitter, the first pause after a failure is 500 ms. The first search of a run precedes the platform's time.
test.each([
  ['the platform was unreachable', 503, 2, 3],
  ['a call has failed', 500, 3, 5],
])(
  'after %s, a queue searches for due calls again when the pause has ended, although the clock of the computer was set',
  async (_, httpStatus, before, after) => {
    const random = jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const { queue, clock, letTimePass, countSearches } = startQueue(httpStatus);
    await letTimePass(0);
    clock.jump(-60 * 86_400_000);
    await letTimePass(499);
    expect(countSearches()).toBe(before);
    clock.jump(120 * 86_400_000);
    await letTimePass(1);
    expect(countSearches()).toBe(after);
    random.mockRestore();
    queue.stop();
  },
);

test('while attempts cannot be recorded, a queue searches again after increasing pauses, and writes one error for each', async () => {
  const random = jest.spyOn(Math, 'random').mockReturnValue(0.5);
  const { queue, errors, failSearches, letTimePass } = startQueue(500);
  failSearches();
  for (const [milliseconds, count] of [
    [0, 1],
    [499, 1],
    [1, 2],
    [999, 2],
    [1, 3],
  ] as const) {
    await letTimePass(milliseconds);
    expect([milliseconds, errors.length]).toEqual([milliseconds, count]);
  }
  random.mockRestore();
  queue.stop();
});

test('a queue without waiting calls does not search for due calls again', async () => {
  const { queue, countSearches } = startQueue(undefined);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(countSearches()).toBe(1);
  queue.stop();
});
