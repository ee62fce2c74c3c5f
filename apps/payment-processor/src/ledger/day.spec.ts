import { formatUTCDay, isDay, newestClosableDay, previousUTCDay } from './day.js';

test('formatUTCDay and previousUTCDay use the UTC day', () => {
  expect(formatUTCDay(new Date('2026-03-01T23:59:59.999Z'))).toBe('2026-03-01');
  expect(formatUTCDay(new Date('2026-03-02T00:30:00.000+02:00'))).toBe('2026-03-01');
  expect(previousUTCDay(new Date('2026-03-01T00:00:00.000Z'))).toBe('2026-02-28');
});

test.each([
  ['2026-03-02T00:04:59.999Z', '2026-02-28'],
  ['2026-03-02T00:05:00.000Z', '2026-03-01'],
  ['2026-03-02T23:59:59.999Z', '2026-03-01'],
])('at %s the newest day that may be closed is %s', (now, day) => {
  expect(newestClosableDay(new Date(now))).toBe(day);
});

test.each([
  ['2026-02-28', true],
  ['2026-02-29', false],
  ['2026-3-1', false],
  ['2026-03-01T00:00:00Z', false],
  ['0000-00-00', false],
  // JavaScript parses this text as a month of the year 12026.
  ['+012026-03', false],
  [undefined, false],
  [['2026-03-01'], false],
  // A value from JSON that cannot be converted to a text.
  [{ toString: null }, false],
])('isDay(%j) returns %s', (text, expected) => {
  expect(isDay(text)).toBe(expected);
});
