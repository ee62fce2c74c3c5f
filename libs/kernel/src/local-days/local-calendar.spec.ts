import type { TimeZonePeriod } from '@svc/contracts';
import fc from 'fast-check';
import { changeTimeZone, LocalCalendar, timeZoneAt } from './local-calendar.js';
import { addDays } from './time-zone.js';

const ZONES = [
  ...['Africa/Johannesburg', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Apia', 'America/Havana', 'Africa/Cairo'],
  ...['Asia/Beirut', 'Pacific/Kiritimati', 'Pacific/Niue', 'Australia/Lord_Howe', 'America/St_Johns', 'UTC'],
];
const HOUR_MS = 3_600_000;
const hoursOf = (calendar: LocalCalendar, day: string): number =>
  (calendar.startOf(addDays(day)).getTime() - calendar.startOf(day).getTime()) / HOUR_MS;

describe('a change of the time zone', () => {
  const NOW = new Date('2026-11-20T10:00:00.000Z');

  test.each([
    // The first day in the new zone ends at its midnight there, so it is shorter in the east and longer in the west.
    ['Africa/Johannesburg', 'Asia/Kathmandu', '2026-11-20T22:00:00.000Z', '2026-11-21', 20.25],
    ['Africa/Johannesburg', 'America/New_York', '2026-11-20T22:00:00.000Z', '2026-11-21', 31],
    ['Pacific/Kiritimati', 'Pacific/Niue', '2026-11-21T10:00:00.000Z', '2026-11-22', 49],
    // The new zone is 25 hours ahead: when it begins, the first day is already over there.
    ['Pacific/Niue', 'Pacific/Kiritimati', '2026-11-20T11:00:00.000Z', '2026-11-20', 0],
  ])('from %s to %s begins at %s; the day %s has %d hours', (before, after, from, firstDay, hours) => {
    const periods = changeTimeZone([{ zone: before }], after, NOW);
    expect(periods).toEqual([{ zone: before }, { zone: after, from }]);
    const calendar = new LocalCalendar(periods);
    expect([calendar.startOf(firstDay).toISOString(), hoursOf(calendar, firstDay)]).toEqual([from, hours]);
    const lastMillisecond = new Date(Date.parse(from) - 1);
    expect([calendar.zoneAt(lastMillisecond), calendar.dayOf(lastMillisecond)]).toEqual([
      before,
      addDays(firstDay, -1),
    ]);
    expect([calendar.zoneAt(new Date(from)), timeZoneAt(periods, new Date(from))]).toEqual([after, after]);
    expect(timeZoneAt(periods, lastMillisecond)).toBe(before);
  });

  test('replaces a zone that has not begun, and changes nothing if the zone is the present one', () => {
    const before: TimeZonePeriod[] = [{ zone: 'Africa/Johannesburg' }];
    const changed = changeTimeZone(before, 'Asia/Kathmandu', NOW);
    expect(changeTimeZone(changed, 'UTC', NOW)).toEqual([...before, { zone: 'UTC', from: '2026-11-20T22:00:00.000Z' }]);
    expect(changeTimeZone(changed, 'Africa/Johannesburg', NOW)).toEqual(before);
    expect(changeTimeZone(before, 'Africa/Johannesburg', NOW)).toEqual(before);
    const begun = new Date('2026-11-20T22:00:00.000Z');
    expect(changeTimeZone(changed, 'UTC', begun)).toEqual([
      ...changed,
      { zone: 'UTC', from: '2026-11-21T18:15:00.000Z' },
    ]);
  });

  test('shows the date on the clock beside the day to which a time belongs', () => {
    const periods = changeTimeZone([{ zone: 'Africa/Johannesburg' }], 'America/New_York', NOW);
    expect(new LocalCalendar(periods).toMerchantTime(new Date('2026-11-20T22:30:00.000Z'))).toEqual({
      ...{ day: '2026-11-21', date: '2026-11-20', time: '17:30:00', zone: 'America/New_York' },
    });
  });
});

test('a calendar needs a time zone, and an unknown zone is refused', () => {
  expect(() => new LocalCalendar([])).toThrow(RangeError);
  expect(() => new LocalCalendar([{ zone: 'Mars/Olympus' }]).dayOf(new Date(0))).toThrow(RangeError);
  expect(timeZoneAt([], new Date(0))).toBe('Africa/Johannesburg');
});

/** Up to four changes of the zone, each some hours after the one before, in the years 2010 to 2030. */
const changesArbitrary = fc.tuple(
  fc.constantFrom(...ZONES),
  fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2030, 0, 1) }),
  fc.array(fc.record({ zone: fc.constantFrom(...ZONES), hoursLater: fc.integer({ min: 0, max: 60 }) }), {
    maxLength: 4,
  }),
);

test('each time belongs to exactly one day, whatever the zones and their changes are', () => {
  fc.assert(
    fc.property(
      changesArbitrary,
      fc.array(fc.integer({ min: -72, max: 400 }), { maxLength: 20 }),
      ([zone, start, changes], hours) => {
        let periods: TimeZonePeriod[] = [{ zone }];
        let now = start;
        for (const change of changes) {
          now += change.hoursLater * HOUR_MS;
          periods = changeTimeZone(periods, change.zone, new Date(now));
        }
        const calendar = new LocalCalendar(periods);
        const times = hours.map((hour) => start + hour * HOUR_MS);
        const boundaries = periods.flatMap(({ from }) =>
          from === undefined ? [] : [Date.parse(from), Date.parse(from) - 1],
        );
        for (const time of [...times, ...boundaries]) {
          const day = calendar.dayOf(new Date(time));
          expect(calendar.startOf(day).getTime()).toBeLessThanOrEqual(time);
          expect(calendar.startOf(addDays(day)).getTime()).toBeGreaterThan(time);
        }
        // The days follow one another without a gap, also over the changes.
        let day = calendar.dayOf(new Date(start - 72 * HOUR_MS));
        for (let count = 0; count < 20; count++, day = addDays(day))
          expect(hoursOf(calendar, day)).toBeGreaterThanOrEqual(0);
        // A day that has ended does not change when a later zone is set.
        const changed = periods.slice(1).at(-1)?.from;
        const before = new LocalCalendar(changed === undefined ? periods : periods.slice(0, -1));
        const firstDay = before.dayOf(new Date(changed ?? start));
        for (const ended of [firstDay, addDays(firstDay, -1), addDays(firstDay, -2)])
          expect(before.startOf(ended)).toEqual(calendar.startOf(ended));
      },
    ),
    { numRuns: 300 },
  );
});
