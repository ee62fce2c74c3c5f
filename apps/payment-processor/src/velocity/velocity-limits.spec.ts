import fc from 'fast-check';
import {
  DAY_MS,
  DEFAULT_LIMITS,
  HOUR_MS,
  isEnabledByDefault,
  LONGEST_WINDOW_MS,
  MAX_IN_FLIGHT_MS,
  remainingAttempts,
  type VelocityCounter,
  windowLimitOf,
} from './velocity-limits.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const ago = (milliseconds: number): Date => new Date(NOW.getTime() - milliseconds);
const counterOf = (counter: Partial<VelocityCounter> = {}): VelocityCounter => ({
  declinedAt: [],
  approvals: (counter.declinedAt ?? []).map(() => 0),
  inFlightSince: [],
  ...counter,
});
const cardLimit = windowLimitOf('card', DEFAULT_LIMITS, NOW);
const remainingOf = (counter: Partial<VelocityCounter>): number =>
  remainingAttempts(counterOf(counter), cardLimit, NOW);

const ages = fc.array(fc.integer({ min: 0, max: 2 * LONGEST_WINDOW_MS }), { maxLength: 20 });
const counters: fc.Arbitrary<VelocityCounter> = fc
  .record({
    declines: ages,
    inFlight: fc.array(fc.integer({ min: 0, max: 2 * MAX_IN_FLIGHT_MS }), { maxLength: 12 }),
    reset: fc.option(fc.integer({ min: 0, max: LONGEST_WINDOW_MS }), { nil: undefined }),
    closed: fc.option(fc.integer({ min: -DAY_MS, max: DAY_MS }), { nil: undefined }),
  })
  .map(({ declines, inFlight, reset, closed }) =>
    counterOf({
      declinedAt: declines.map(ago),
      inFlightSince: inFlight.map(ago),
      resetAt: reset === undefined ? undefined : ago(reset),
      closedUntil: closed === undefined ? undefined : ago(closed),
    }),
  );

describe('the limit of a card', () => {
  test('a card without declines has four attempts', () => {
    expect(remainingOf({})).toBe(4);
  });

  test.each([
    ['three declines of the day leave one attempt', [HOUR_MS, HOUR_MS, HOUR_MS], 1],
    ['the fourth decline of the day closes the card', [HOUR_MS, HOUR_MS, HOUR_MS, HOUR_MS], 0],
    ['a decline that is 24 hours old no longer counts for the day', [DAY_MS, HOUR_MS, HOUR_MS, HOUR_MS], 1],
    ['a decline of less than 24 hours counts', [DAY_MS - 1, HOUR_MS, HOUR_MS, HOUR_MS], 0],
    ['nine declines of 30 days leave one attempt', Array.from({ length: 9 }, () => 2 * DAY_MS), 1],
    ['the tenth decline of 30 days closes the card', Array.from({ length: 10 }, () => 2 * DAY_MS), 0],
    ['a decline that is 30 days old no longer counts', Array.from({ length: 10 }, () => LONGEST_WINDOW_MS), 4],
  ])('%s', (_, declines, remaining) => {
    expect(remainingOf({ declinedAt: declines.map(ago) })).toBe(remaining);
  });

  test('attempts in flight count as declines, for an hour at most', () => {
    expect(remainingOf({ declinedAt: [ago(1), ago(2)], inFlightSince: [ago(0), ago(MAX_IN_FLIGHT_MS)] })).toBe(0);
    expect(remainingOf({ inFlightSince: [ago(MAX_IN_FLIGHT_MS + 1)] })).toBe(4);
  });

  test("an approval resets the day's count, and not the count of 30 days", () => {
    const declinedAt = Array.from({ length: 4 }, () => ago(HOUR_MS));
    expect(remainingOf({ declinedAt, resetAt: ago(HOUR_MS) })).toBe(4);
    expect(remainingOf({ declinedAt, resetAt: ago(HOUR_MS + 1) })).toBe(0);
    expect(remainingOf({ declinedAt: Array.from({ length: 10 }, () => ago(HOUR_MS)), resetAt: ago(0) })).toBe(0);
  });

  test('a card that must not be tried again is closed until that time', () => {
    expect(remainingOf({ closedUntil: ago(-1) })).toBe(0);
    expect(remainingOf({ closedUntil: NOW })).toBe(4);
  });

  test('never more than four attempts remain, and a further decline never gives more', () => {
    fc.assert(
      fc.property(counters, fc.integer({ min: 0, max: LONGEST_WINDOW_MS }), (counter, age) => {
        const before = remainingAttempts(counter, cardLimit, NOW);
        const declinedAt = [...counter.declinedAt, ago(age)];
        const after = remainingAttempts(
          { ...counter, declinedAt, approvals: [...counter.approvals, 0] },
          cardLimit,
          NOW,
        );
        expect(before).toBeLessThanOrEqual(4);
        expect(after).toBeLessThanOrEqual(before);
        expect(after).toBeGreaterThanOrEqual(before - 1);
      }),
    );
  });

  test('an attempt in flight that becomes a decline changes nothing', () => {
    fc.assert(
      fc.property(counters, (counter) => {
        const inFlight = { ...counter, resetAt: undefined, inFlightSince: [...counter.inFlightSince, NOW] };
        const declined = {
          ...counter,
          resetAt: undefined,
          declinedAt: [...counter.declinedAt, NOW],
          approvals: [...counter.approvals, 0],
        };
        const [one, other] = [inFlight, declined].map((state) => remainingAttempts(state, cardLimit, NOW));
        // Both windows contain the decline, and the attempt is subtracted from both.
        expect(one).toBe(other);
      }),
    );
  });

  test('the order of the declines does not matter', () => {
    fc.assert(
      fc.property(counters, (counter) => {
        const reversed = { ...counter, declinedAt: [...counter.declinedAt].reverse() };
        expect(remainingAttempts(reversed, cardLimit, NOW)).toBe(remainingAttempts(counter, cardLimit, NOW));
      }),
    );
  });

  test('from 30 days after the last decline, approval and attempt, the card is as new', () => {
    fc.assert(
      fc.property(counters, (counter) => {
        const later = new Date(NOW.getTime() + LONGEST_WINDOW_MS);
        expect(remainingAttempts(counter, windowLimitOf('card', DEFAULT_LIMITS, later), later)).toBe(4);
      }),
    );
  });
});

describe.each(['range', 'address', 'organisation'] as const)('the limit of a counter with approvals: %s', (scope) => {
  const limit = windowLimitOf(scope, DEFAULT_LIMITS, NOW);
  const declinedAt = Array.from({ length: limit.limit }, () => ago(HOUR_MS - 1));

  test('as many declines as the limit within an hour leave no attempt', () => {
    expect(remainingAttempts(counterOf({ declinedAt: declinedAt.slice(1) }), limit, NOW)).toBe(1);
    expect(remainingAttempts(counterOf({ declinedAt }), limit, NOW)).toBe(0);
    const older = [ago(HOUR_MS), ...declinedAt.slice(1)];
    expect(remainingAttempts(counterOf({ declinedAt: older }), limit, NOW)).toBe(1);
  });

  test('as many approvals as declines are regular trade', () => {
    const approvals = declinedAt.map((_, index) => (index === 0 ? limit.limit + 1 : 0));
    expect(remainingAttempts(counterOf({ declinedAt, approvals }), limit, NOW)).toBe(1);
    const later = windowLimitOf(scope, DEFAULT_LIMITS, NOW, limit.limit + 3);
    expect(remainingAttempts(counterOf({ declinedAt }), later, NOW)).toBe(3);
  });

  test('approvals before the window do not count', () => {
    const older = [ago(HOUR_MS), ...declinedAt];
    expect(remainingAttempts(counterOf({ declinedAt: older, approvals: older.map(() => 100 - 99) }), limit, NOW)).toBe(
      0,
    );
  });
});

test('the limits are on in live mode, and in test mode only if the setting says so', () => {
  expect(isEnabledByDefault('live', false)).toBe(true);
  expect(isEnabledByDefault('test', false)).toBe(false);
  expect(isEnabledByDefault('test', true)).toBe(true);
});
