import { floorToClosing, formatUTCDay, newestClosableTime, previousUTCDay } from './day.js';

test('formatUTCDay and previousUTCDay use the UTC day', () => {
  expect(formatUTCDay(new Date('2026-03-01T23:59:59.999Z'))).toBe('2026-03-01');
  expect(formatUTCDay(new Date('2026-03-02T00:30:00.000+02:00'))).toBe('2026-03-01');
  expect(previousUTCDay(new Date('2026-03-01T00:00:00.000Z'))).toBe('2026-02-28');
});

test.each([
  ['2026-03-02T00:04:59.999Z', '2026-03-01T23:45:00.000Z'],
  ['2026-03-02T00:05:00.000Z', '2026-03-02T00:00:00.000Z'],
  ['2026-03-02T00:19:59.999Z', '2026-03-02T00:00:00.000Z'],
  ['2026-03-02T00:20:00.000Z', '2026-03-02T00:15:00.000Z'],
])('at %s the ledger may be closed up to %s', (now, until) => {
  expect(newestClosableTime(new Date(now)).toISOString()).toBe(until);
});

test('floorToClosing returns the quarter of an hour at or before a time', () => {
  expect(floorToClosing(new Date('2026-03-01T18:14:59.999Z'))).toEqual(new Date('2026-03-01T18:00:00.000Z'));
  expect(floorToClosing(new Date('2026-03-01T18:15:00.000Z'))).toEqual(new Date('2026-03-01T18:15:00.000Z'));
});
