import { last24Hours, lastThreeMonths } from './windows.js';

test.each([
  ['2026-03-02T10:00:00.123Z', '2026-03-01T10:00:00.123Z'],
  ['2026-03-01T00:00:00.000Z', '2026-02-28T00:00:00.000Z'],
  // Some time zones have daylight saving time; UTC does not.
  ['2026-03-29T12:00:00.000Z', '2026-03-28T12:00:00.000Z'],
])('at %s the rolling day begins at %s', (now, from) =>
  expect(last24Hours(new Date(now)).from.toISOString()).toBe(from),
);

test.each([
  ['2026-06-15T10:00:00.123Z', '2026-03-15T10:00:00.123Z'],
  ['a year back', '2026-02-15T10:00:00.000Z', '2025-11-15T10:00:00.000Z'],
  ['December', '2026-03-31T23:59:59.999Z', '2025-12-31T23:59:59.999Z'],
  ['a shorter month', '2026-05-31T10:00:00.000Z', '2026-02-28T10:00:00.000Z'],
  ['a leap day is the last of its month', '2028-05-31T10:00:00.000Z', '2028-02-29T10:00:00.000Z'],
  ['a leap day is inside its own year', '2028-05-29T10:00:00.000Z', '2028-02-29T10:00:00.000Z'],
  ['from a leap day', '2028-02-29T10:00:00.000Z', '2027-11-29T10:00:00.000Z'],
  ['a month of thirty days', '2026-07-31T00:00:00.000Z', '2026-04-30T00:00:00.000Z'],
  ['the first of a month', '2026-04-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
])('the window of three months: %s %s', (...texts) => {
  const [now, from] = texts.slice(-2) as [string, string];
  const given = new Date(now);
  expect(lastThreeMonths(given).from.toISOString()).toBe(from);
  expect(given.toISOString()).toBe(now);
});

test.each([last24Hours, lastThreeMonths])('a payment of a clock that is a little ahead is inside', (windowOf) =>
  expect(windowOf(new Date('2026-03-31T10:00:00.000Z')).until.toISOString()).toBe('2026-04-01T10:00:00.000Z'),
);
