import { addDays, FIRST_LOCAL_DAY, isCalendarDay } from '@svc/kernel';

/** A month, `2026-11`, that has begun by this day. */
export function isMonth(text: unknown, today: string): text is string {
  return typeof text === 'string' && isDay(`${text}-01`, today);
}

/** A day, `2026-11-20`, that has begun by this day. */
export function isDay(text: unknown, today: string): text is string {
  return isCalendarDay(text) && text >= FIRST_LOCAL_DAY && text <= today;
}

export function monthOf(day: string): string {
  return day.slice(0, 7);
}

/** The neighbours of a month or a day; undefined before the first and after the present one. */
export function findNeighbours(
  period: string,
  today: string,
): { before: string | undefined; after: string | undefined } {
  const isOneDay: boolean = isCalendarDay(period);
  const isPeriod = isOneDay ? isDay : isMonth;
  const before = isOneDay ? addDays(period, -1) : monthOf(addDays(`${period}-01`, -1));
  // The 28th and four days is always in the next month.
  const after = isOneDay ? addDays(period) : monthOf(addDays(`${period}-28`, 4));
  return {
    before: isPeriod(before, today) ? before : undefined,
    after: isPeriod(after, today) ? after : undefined,
  };
}
