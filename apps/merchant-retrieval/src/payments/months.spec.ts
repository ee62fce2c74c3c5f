import { isOlderThanWindow, requiredMonths } from './months.js';

test.each([
  ['2026-06-15T10:00:00.000Z', '2026-03-01', 6],
  ['2026-01-31T10:00:00.000Z', '2025-10-01', 6],
  ['2026-05-31T23:59:59.999Z', '2026-02-01', 6],
  ['2026-03-01T00:00:00.000Z', '2025-12-01', 6],
])('at %s the first required partition is for the month of %s, and %d partitions are required', (now, first, count) =>
  expect(requiredMonths(new Date(now))).toEqual({ first: new Date(first), count }),
);

test.each([
  // On 1 July the whole month of March is older than three months. The partition stays for one more day, because clocks
  // may differ.
  ['payments_2026_03', '2026-07-01T23:59:59.999Z', false],
  ['payments_2026_03', '2026-07-02T00:00:00.000Z', true],
  ['payments_2026_02', '2026-07-01T00:00:00.000Z', true],
  ['payments_2026_04', '2026-07-31T23:59:59.999Z', false],
  ['payments_2025_12', '2026-04-01T12:00:00.000Z', false],
  ['payments_2025_12', '2026-04-02T00:00:00.000Z', true],
  ['payments_2027_01', '2026-07-02T00:00:00.000Z', false],
  ['payments_default', '2026-07-02T00:00:00.000Z', false],
  ['payments_2026_03_old', '2026-07-02T00:00:00.000Z', false],
  ['old_payments_2026_03', '2026-07-02T00:00:00.000Z', false],
])('for the partition %s at the time %s, isOlderThanWindow returns %p', (partition, now, expected) =>
  expect(isOlderThanWindow(partition, new Date(now))).toBe(expected),
);
