import { classifyResponse } from './try-result.js';

const now = new Date('2026-03-01T10:00:00.000Z');
const first = { attemptCount: 1, now, random: 0.5 };
const after = (ms: number): Date => new Date(now.getTime() + ms);

describe('the result of an attempt', () => {
  it.each([200, 201, 202, 204, 226, 299])('%i acknowledges', (statusCode) => {
    expect(classifyResponse({ statusCode, durationMs: 5 }, first)).toEqual({
      outcome: 'acknowledged',
      state: 'delivered',
      nextAttemptAt: undefined,
    });
  });

  it('acknowledges by the status, also with an incomplete body', () => {
    expect(classifyResponse({ statusCode: 200, errorClass: 'timeout', durationMs: 5 }, first).state).toBe('delivered');
  });

  it.each([199, 300, 301, 302, 307, 308, 400, 401, 403, 404, 408, 409, 425, 500, 502, 504, 599])(
    '%i is tried again',
    (statusCode) => {
      expect(classifyResponse({ statusCode, retryAfter: '60', durationMs: 5 }, first)).toEqual({
        outcome: 'refused',
        state: 'pending',
        nextAttemptAt: after(5_000),
      });
    },
  );

  it('is retried without a response, also for a rejected address', () => {
    for (const errorClass of ['timeout', 'connection-refused', 'address-refused:private']) {
      expect(classifyResponse({ errorClass, durationMs: 5 }, first)).toEqual({
        outcome: 'unanswered',
        state: 'pending',
        nextAttemptAt: after(5_000),
      });
    }
  });

  it('stops at 410', () => {
    expect(classifyResponse({ statusCode: 410, durationMs: 5 }, first)).toEqual({
      outcome: 'refused',
      state: 'gone',
      nextAttemptAt: undefined,
    });
  });

  it.each([429, 503])('a Retry-After of %i can only make the wait longer', (statusCode) => {
    expect(classifyResponse({ statusCode, retryAfter: '60', durationMs: 5 }, first).nextAttemptAt).toEqual(
      after(60_000),
    );
    expect(classifyResponse({ statusCode, retryAfter: '1', durationMs: 5 }, first).nextAttemptAt).toEqual(after(5_000));
    expect(classifyResponse({ statusCode, durationMs: 5 }, first).nextAttemptAt).toEqual(after(5_000));
  });

  it('is exhausted after the last attempt of the schedule, regardless of Retry-After', () => {
    expect(
      classifyResponse({ statusCode: 503, retryAfter: '60', durationMs: 5 }, { ...first, attemptCount: 12 }),
    ).toEqual({
      outcome: 'refused',
      state: 'exhausted',
      nextAttemptAt: undefined,
    });
    expect(classifyResponse({ statusCode: 200, durationMs: 5 }, { ...first, attemptCount: 12 }).state).toBe(
      'delivered',
    );
    expect(classifyResponse({ statusCode: 500, durationMs: 5 }, { ...first, attemptCount: 11 }).nextAttemptAt).toEqual(
      after(86_400_000),
    );
  });
});
