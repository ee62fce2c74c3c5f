import { MerchantClock } from '../languages/format.js';
import { chooseDay } from './today.js';

const clock = new MerchantClock([{ zone: 'America/New_York' }]);
const NOW = new Date('2026-11-05T17:30:00.000Z');

function choose(chosen?: unknown) {
  const { day, isToday, previous, next, from, until, before } = chooseDay(clock, NOW, chosen);
  const window = [from, until, before.from, before.until].map((time) => time.toISOString());
  return { day, isToday, previous, next, window };
}

test('today is compared with the same weekday until the same time', () => {
  expect(choose()).toEqual({
    day: '2026-11-05',
    isToday: true,
    previous: '2026-11-04',
    next: undefined,
    // Daylight-saving time has ended in between, so the same local time is another time in UTC.
    window: [
      '2026-11-05T05:00:00.000Z',
      '2026-11-06T05:00:00.000Z',
      '2026-10-29T04:00:00.000Z',
      '2026-10-29T16:30:00.000Z',
    ],
  });
});

test('an earlier day is compared with the whole weekday before, also on a day of 25 hours', () => {
  expect(choose('2026-11-01')).toEqual({
    day: '2026-11-01',
    isToday: false,
    previous: '2026-10-31',
    next: '2026-11-02',
    window: [
      '2026-11-01T04:00:00.000Z',
      '2026-11-02T05:00:00.000Z',
      '2026-10-25T04:00:00.000Z',
      '2026-10-26T04:00:00.000Z',
    ],
  });
});

test('the oldest day is a year back, and has no day before it', () => {
  expect(choose('2025-11-04')).toMatchObject({ day: '2025-11-04', previous: undefined, next: '2025-11-05' });
  expect(choose('2025-11-03').day).toBe('2026-11-05');
});

test.each([['2026-11-05'], ['2026-11-06'], ['2026-02-30'], ['yesterday'], [['2026-11-01']], [undefined]])(
  '%j is today',
  (chosen) => {
    expect(choose(chosen)).toMatchObject({ day: '2026-11-05', isToday: true });
  },
);
