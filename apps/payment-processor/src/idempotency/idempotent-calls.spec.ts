import { DomainError } from '@svc/kernel';
import { ManualClock } from '@svc/testing';
import { IdempotentCalls } from './idempotent-calls.js';

const RESULT = { fingerprint: 'f' };

/**
 * Runs two calls with the same key. The first call fails when the second call has waited for `waitMs`. Returns the
 * result of the second call.
 */
async function resultOfSecondCall(waitMs: number): Promise<unknown> {
  const clock = new ManualClock();
  let stored: typeof RESULT | undefined;
  const settings = { constraint: 'references_pkey', inProgress: 'payment.in-progress' } as const;
  const calls = new IdempotentCalls<typeof RESULT>(settings, clock);
  const call = {
    ...{ id: 'o-1,test,r-1', fingerprint: 'f', deadline: clock.later(20_000) },
    find: () => Promise.resolve(stored),
    finish: (result: typeof RESULT) => Promise.resolve(result),
  };
  let failFirstCall: () => void = () => undefined;
  const failure = new Promise<void>((_, reject) => (failFirstCall = () => reject(new DomainError('card.invalid'))));
  const first = calls.runOncePerKey({ ...call, create: () => failure });
  const second = calls.runOncePerKey({
    ...call,
    create: () => {
      stored = RESULT;
      return Promise.resolve();
    },
  });
  clock.advance(waitMs);
  failFirstCall();
  await expect(first).rejects.toMatchObject({ code: 'card.invalid' });
  return second;
}

test('when the first call fails, the waiting call with the same key runs', async () => {
  expect(await resultOfSecondCall(19_999)).toEqual({ result: RESULT, replayed: false });
});

test('a waiting call creates no result if its deadline has passed when the first call fails', async () => {
  await expect(resultOfSecondCall(20_000)).rejects.toMatchObject({
    code: 'payment.in-progress',
    retryAfterSeconds: 2,
  });
});
