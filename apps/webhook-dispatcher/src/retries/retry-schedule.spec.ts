import { keyRetryDelayMs, MAX_SCHEDULE_MS, RETRY_SCHEDULE_MS, retryAfterMs, retryDelayMs } from './retry-schedule.js';

const HOUR = 3_600_000;
const NOW = new Date('2026-03-01T10:00:00.000Z');

describe('the retry schedule', () => {
  it('is the documented schedule of 12 attempts in about three days', () => {
    expect(RETRY_SCHEDULE_MS.map((ms) => ms / 1000)).toEqual([
      0, 5, 30, 120, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 86_400,
    ]);
    const totalMs = RETRY_SCHEDULE_MS.reduce((sum, ms) => sum + ms, 0);
    expect(totalMs).toBeGreaterThan(70 * HOUR);
    expect(totalMs).toBeLessThan(72 * HOUR);
    // The sum of all waits with the maximum jitter of 20 %.
    expect(MAX_SCHEDULE_MS).toBe(305_466_000);
  });

  it.each([
    [0, 0.5, 0],
    [1, 0, 4_000],
    [1, 0.5, 5_000],
    [1, 0.999_999, 6_000],
    [2, 0, 24_000],
    [11, 0, 69_120_000],
    [11, 0.999_999_999, 103_680_000],
  ])('returns after %i attempts, for the random number %d, a wait of %i ms', (attemptCount, random, expectedMs) => {
    expect(retryDelayMs(attemptCount, random)).toBe(expectedMs);
  });

  it('ends after the twelfth attempt', () => {
    expect(retryDelayMs(11, 0.5)).toBe(24 * HOUR);
    expect(retryDelayMs(12, 0.5)).toBeUndefined();
  });

  it.each([
    ['7', 7_000],
    [' 7 ', 7_000],
    ['0', 0],
    ['999999999999999999999', 24 * HOUR],
    ['Sun, 01 Mar 2026 10:01:30 GMT', 90_000],
    ['Sun, 01 Mar 2026 09:00:00 GMT', 0],
    ['Wed, 01 Mar 2028 10:00:00 GMT', 24 * HOUR],
    ['xSun, 01 Mar 2026 10:01:30 GMT', undefined],
    ['Sun, 01 Mar 2026 10:01:30 GMT+1', undefined],
    ['Sun, 99 Mar 2026 10:01:30 GMT', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads Retry-After %j as %s ms', (header, expectedMs) => {
    expect(retryAfterMs(header, NOW)).toBe(expectedMs);
  });

  it.each([
    [0, 1_000],
    [8_000, 2_000],
    [HOUR, 300_000],
    [72 * HOUR - 1, 300_000],
    [72 * HOUR, undefined],
  ])('returns for a notification that is %i ms old and has no signing keys a wait of %s ms', (ageMs, expectedMs) => {
    expect(keyRetryDelayMs(ageMs)).toBe(expectedMs);
  });
});
