import fc from 'fast-check';
import { addDays, isCalendarDay, isTimeZone, startOfLocalDay, toLocalTime } from './time-zone.js';

test.each([
  ['Africa/Johannesburg', true],
  ['Asia/Kathmandu', true],
  ['Asia/Katmandu', true],
  ['America/Argentina/Buenos_Aires', true],
  ['America/Port-au-Prince', true],
  ['UTC', true],
  ['Etc/UTC', true],
  ['Africa/Pretoria', false],
  ['africa/johannesburg', false],
  ['+02:00', false],
  ['GMT+2', false],
  ['', false],
  [`A${'a'.repeat(64)}`, false],
  [2, false],
  [['UTC'], false],
  [undefined, false],
])('isTimeZone(%j) returns %s', (name, expected) => expect(isTimeZone(name)).toBe(expected));

test('every zone that Node.js lists is a time zone', () => {
  expect(Intl.supportedValuesOf('timeZone').filter((zone) => !isTimeZone(zone))).toEqual([]);
});

test.each([
  ['Africa/Johannesburg', '2026-11-20T23:30:05.999Z', '2026-11-21', '01:30:05'],
  ['Africa/Johannesburg', '2026-11-20T22:00:00.000Z', '2026-11-21', '00:00:00'],
  ['America/New_York', '2026-11-20T23:30:05.000Z', '2026-11-20', '18:30:05'],
  ['Asia/Kathmandu', '2026-11-20T18:15:00.000Z', '2026-11-21', '00:00:00'],
])('clocks in %s show at %s the date %s and the time %s', (zone, time, date, clock) => {
  expect(toLocalTime(zone, new Date(time))).toEqual({ date, time: clock });
});

test.each([
  ['Africa/Johannesburg', '2026-11-20', '2026-11-19T22:00:00.000Z', 24],
  ['Asia/Kathmandu', '2026-11-20', '2026-11-19T18:15:00.000Z', 24],
  ['America/New_York', '2026-03-08', '2026-03-08T05:00:00.000Z', 23],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z', 25],
  ['Pacific/Apia', '2026-11-20', '2026-11-19T11:00:00.000Z', 24],
  // Samoa skipped this day, so it is empty.
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z', 0],
  // On these days, clocks skip midnight or show it twice.
  ['America/Havana', '2026-03-08', '2026-03-08T05:00:00.000Z', 23],
  ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', 25],
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z', 23],
  ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00:00.000Z', 23],
  ['Asia/Beirut', '2026-10-24', '2026-10-23T21:00:00.000Z', 25],
  ['Africa/Cairo', '2026-10-29', '2026-10-28T21:00:00.000Z', 25],
  ['Australia/Lord_Howe', '2026-10-04', '2026-10-03T13:30:00.000Z', 23.5],
])('in %s the day %s begins at %s and has %d hours', (zone, day, start, hours) => {
  expect(startOfLocalDay(zone, day).toISOString()).toBe(start);
  const end = startOfLocalDay(zone, addDays(day)).getTime();
  expect((end - Date.parse(start)) / 3_600_000).toBe(hours);
});

test('in every zone each day begins when clocks show its date or, after a skipped day, a later date', () => {
  const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'), 'Asia/Kathmandu', 'UTC');
  // Days since 1 January 2012, after the last zone that changed its date in the night.
  const day = fc.integer({ min: 0, max: 20 * 365 }).map((days) => addDays('2012-01-01', days));
  fc.assert(
    fc.property(zone, day, (timeZone, date) => {
      const start = startOfLocalDay(timeZone, date).getTime();
      expect(toLocalTime(timeZone, new Date(start)).date).toBe(date);
      expect(toLocalTime(timeZone, new Date(start - 1)).date).toBe(addDays(date, -1));
      const hours = (startOfLocalDay(timeZone, addDays(date)).getTime() - start) / 3_600_000;
      expect(hours).toBeGreaterThanOrEqual(22);
      expect(hours).toBeLessThanOrEqual(26);
      // A midnight is at a quarter of an hour: the ledger is closed in these steps.
      expect(start % 900_000).toBe(0);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['2026-03-01', -1, '2026-02-28'],
  ['2026-02-28', 1, '2026-03-01'],
  ['2026-12-31', 1, '2027-01-01'],
  ['2026-01-15', -14, '2026-01-01'],
])('addDays(%s, %i) returns %s', (day, days, expected) => expect(addDays(day, days)).toBe(expected));

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
])('isCalendarDay(%j) returns %s', (text, expected) => {
  expect(isCalendarDay(text)).toBe(expected);
});
