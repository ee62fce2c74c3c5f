import { classifyResponse } from './classify-response.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const firstAttempt = { attemptCount: 1, now: NOW, random: 0.5 };
const later = (ms: number): Date => new Date(NOW.getTime() + ms);

describe('an attempt', () => {
  it.each([200, 201, 202, 204, 226, 299])('acknowledges the notification if the status is %i', (statusCode) => {
    expect(classifyResponse({ statusCode, durationMs: 5 }, firstAttempt)).toEqual({
      outcome: 'acknowledged',
      state: 'delivered',
      nextAttemptAt: undefined,
    });
  });

  it('acknowledges the notification if the status is 200 and the body is incomplete', () => {
    expect(classifyResponse({ statusCode: 200, errorClass: 'timeout', durationMs: 5 }, firstAttempt).state).toBe(
      'delivered',
    );
  });

  it.each([199, 300, 301, 302, 307, 308, 400, 401, 403, 404, 408, 409, 425, 500, 502, 504, 599])(
    'is retried by the schedule if the status is %i',
    (statusCode) => {
      expect(classifyResponse({ statusCode, retryAfter: '60', durationMs: 5 }, firstAttempt)).toEqual({
        outcome: 'refused',
        state: 'pending',
        nextAttemptAt: later(5_000),
      });
    },
  );

  it('is retried by the schedule if it gets no response, even if the address was rejected', () => {
    for (const errorClass of ['timeout', 'connection-refused', 'address-refused:private']) {
      expect(classifyResponse({ errorClass, durationMs: 5 }, firstAttempt)).toEqual({
        outcome: 'unanswered',
        state: 'pending',
        nextAttemptAt: later(5_000),
      });
    }
  });

  it('is not retried if the status is 410', () => {
    expect(classifyResponse({ statusCode: 410, durationMs: 5 }, firstAttempt)).toEqual({
      outcome: 'refused',
      state: 'gone',
      nextAttemptAt: undefined,
    });
  });

  it.each([429, 503])(
    'is retried after status %i at the time of Retry-After or of the schedule, whichever is later',
    (statusCode) => {
      expect(classifyResponse({ statusCode, retryAfter: '60', durationMs: 5 }, firstAttempt).nextAttemptAt).toEqual(
        later(60_000),
      );
      expect(classifyResponse({ statusCode, retryAfter: '1', durationMs: 5 }, firstAttempt).nextAttemptAt).toEqual(
        later(5_000),
      );
      expect(classifyResponse({ statusCode, durationMs: 5 }, firstAttempt).nextAttemptAt).toEqual(later(5_000));
    },
  );

  it('is not retried if it is the last attempt of the schedule, regardless of Retry-After', () => {
    expect(
      classifyResponse({ statusCode: 503, retryAfter: '60', durationMs: 5 }, { ...firstAttempt, attemptCount: 12 }),
    ).toEqual({
      outcome: 'refused',
      state: 'exhausted',
      nextAttemptAt: undefined,
    });
    expect(classifyResponse({ statusCode: 200, durationMs: 5 }, { ...firstAttempt, attemptCount: 12 }).state).toBe(
      'delivered',
    );
    expect(
      classifyResponse({ statusCode: 500, durationMs: 5 }, { ...firstAttempt, attemptCount: 11 }).nextAttemptAt,
    ).toEqual(later(86_400_000));
  });
});
