import { Clock, SystemClock } from './clock.js';

const clock = new (class extends Clock {
  override now(): Date {
    return new Date('2026-03-01T09:59:58.120Z');
  }
})();

test('nowISO() returns the time as ISO 8601 UTC with milliseconds (C2)', () => {
  expect(clock.nowISO()).toBe('2026-03-01T09:59:58.120Z');
});

test('later() adds milliseconds to the time', () => {
  expect(clock.later(1_880).toISOString()).toBe('2026-03-01T10:00:00.000Z');
  expect(clock.later(-120).toISOString()).toBe('2026-03-01T09:59:58.000Z');
});

test('the system clock returns the time of the system', () => {
  const before = Date.now();
  const now = new SystemClock().now().getTime();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

test('monotonicMs() of the system clock never decreases, even if the time of the system does', () => {
  const clockOfSystem = new SystemClock();
  const before = clockOfSystem.monotonicMs();
  const time = jest.spyOn(Date, 'now').mockReturnValue(0);
  expect(clockOfSystem.monotonicMs()).toBeGreaterThanOrEqual(before);
  time.mockRestore();
});
