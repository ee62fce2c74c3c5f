import { judgeTry } from './try-result.js';

const now = new Date('2026-03-01T10:00:00.000Z');
const first = { triesMade: 1, now, random: 0.5 };
const after = (ms: number): Date => new Date(now.getTime() + ms);

describe('what a try means', () => {
  it.each([200, 201, 202, 204, 226, 299])('%i acknowledges', (statusCode) => {
    expect(judgeTry({ statusCode, durationMs: 5 }, first)).toEqual({
      outcome: 'acknowledged',
      state: 'delivered',
      nextAttemptAt: undefined,
    });
  });

  it('acknowledges by the status, though the body broke off', () => {
    expect(judgeTry({ statusCode: 200, errorClass: 'timeout', durationMs: 5 }, first).state).toBe('delivered');
  });

  it.each([199, 300, 301, 302, 307, 308, 400, 401, 403, 404, 408, 409, 425, 500, 502, 504, 599])(
    '%i is tried again',
    (statusCode) => {
      expect(judgeTry({ statusCode, retryAfter: '60', durationMs: 5 }, first)).toEqual({
        outcome: 'refused',
        state: 'pending',
        nextAttemptAt: after(5_000),
      });
    },
  );

  it('tries again when no answer came, a refused address included', () => {
    for (const errorClass of ['timeout', 'connection-refused', 'address-refused:private']) {
      expect(judgeTry({ errorClass, durationMs: 5 }, first)).toEqual({
        outcome: 'unanswered',
        state: 'pending',
        nextAttemptAt: after(5_000),
      });
    }
  });

  it('stops at 410', () => {
    expect(judgeTry({ statusCode: 410, durationMs: 5 }, first)).toEqual({
      outcome: 'refused',
      state: 'gone',
      nextAttemptAt: undefined,
    });
  });

  it.each([429, 503])('lets %i ask for a longer wait, not for a shorter one', (statusCode) => {
    expect(judgeTry({ statusCode, retryAfter: '60', durationMs: 5 }, first).nextAttemptAt).toEqual(after(60_000));
    expect(judgeTry({ statusCode, retryAfter: '1', durationMs: 5 }, first).nextAttemptAt).toEqual(after(5_000));
    expect(judgeTry({ statusCode, durationMs: 5 }, first).nextAttemptAt).toEqual(after(5_000));
  });

  it('is exhausted after the last try of the schedule, whatever is asked', () => {
    expect(judgeTry({ statusCode: 503, retryAfter: '60', durationMs: 5 }, { ...first, triesMade: 12 })).toEqual({
      outcome: 'refused',
      state: 'exhausted',
      nextAttemptAt: undefined,
    });
    expect(judgeTry({ statusCode: 200, durationMs: 5 }, { ...first, triesMade: 12 }).state).toBe('delivered');
    expect(judgeTry({ statusCode: 500, durationMs: 5 }, { ...first, triesMade: 11 }).nextAttemptAt).toEqual(
      after(86_400_000),
    );
  });
});
