import { DEFAULT_TIME_ZONE, type TimeZonePeriod } from '@svc/contracts';
import { addDays, startOfLocalDay, toLocalTime } from './time-zone.js';

/** A time in the calendar of a merchant. */
export interface MerchantTime {
  /** The merchant's day to which the time belongs. */
  readonly day: string;
  /** The date on the clock. Differs from `day` only on the first day of another zone (see {@link LocalCalendar}). */
  readonly date: string;
  /** `18:03:36`. */
  readonly time: string;
  readonly zone: string;
}

interface Period {
  readonly zone: string;
  /** Milliseconds since 1970; `-Infinity` for the first period. */
  readonly from: number;
  /** The first day that begins in this period; empty for the first period. */
  readonly firstDay: string;
}

/**
 * The days of a merchant (M7, ADR 85). A day ends where the next one begins, so each time belongs to exactly one day.
 *
 * When the zone changes, the day before the change ends at its midnight in the old zone, and the next day ends at its
 * midnight in the new zone. This first day of the new zone is therefore shorter or longer than others. A time on this
 * day has this day even where clocks in the new zone still show the date before. If the new zone is more than 24 hours
 * ahead, the first day is empty.
 */
export class LocalCalendar {
  private readonly periods: readonly Period[];
  /** Computing a beginning takes dozens of look-ups of an offset, and a statement needs it for each movement. */
  private readonly starts = new Map<string, number>();

  /** @param periods at least one, sorted by `from` */
  constructor(periods: readonly TimeZonePeriod[]) {
    const known: Period[] = [];
    this.periods = known;
    for (const { zone, from } of periods) {
      const start = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
      // The calendar of the earlier periods decides which day begins with this period.
      known.push({ zone, from: start, firstDay: known.length === 0 ? '' : this.dayOf(new Date(start)) });
      this.starts.clear();
    }
    if (known.length === 0) throw new RangeError('a calendar needs a time zone');
  }

  /** The time zone at this time. */
  zoneAt(time: Date): string {
    return this.periodAt(time.getTime()).zone;
  }

  /** The day to which this time belongs. */
  dayOf(time: Date): string {
    return this.toMerchantTime(time).day;
  }

  toMerchantTime(time: Date): MerchantTime {
    const { zone, firstDay } = this.periodAt(time.getTime());
    const local = toLocalTime(zone, time);
    let day = local.date < firstDay ? firstDay : local.date;
    while (this.startOf(addDays(day)).getTime() <= time.getTime()) day = addDays(day);
    while (this.startOf(day).getTime() > time.getTime()) day = addDays(day, -1);
    return { day, ...local, zone };
  }

  /** The beginning of this day, which is the end of the day before. */
  startOf(day: string): Date {
    const known = this.starts.get(day);
    const start = known ?? this.computeStart(day);
    if (known === undefined) this.starts.set(day, start);
    return new Date(start);
  }

  private periodAt(time: number): Period {
    return this.periods.findLast(({ from }) => from <= time)!;
  }

  private computeStart(day: string): number {
    for (const [index, { zone, from, firstDay }] of this.periods.entries()) {
      const start = day <= firstDay ? from : Math.max(from, startOfLocalDay(zone, day).getTime());
      const next = this.periods[index + 1];
      if (next === undefined || start < next.from) return start;
    }
    throw new RangeError(`no period contains ${day}`);
  }
}

/** The time zone at this time. Cheaper than a calendar. */
export function timeZoneAt(periods: readonly TimeZonePeriod[], time: Date): string {
  const period = periods.findLast(({ from }) => from === undefined || Date.parse(from) <= time.getTime());
  return period?.zone ?? DEFAULT_TIME_ZONE;
}

/**
 * The time zones of a merchant after a change at this time. The new zone begins at the end of the merchant's present
 * day. It replaces a zone that has not begun yet.
 */
export function changeTimeZone(periods: readonly TimeZonePeriod[], zone: string, now: Date): TimeZonePeriod[] {
  const begun = periods.filter(({ from }) => from === undefined || Date.parse(from) <= now.getTime());
  if (begun.at(-1)?.zone === zone) return begun;
  const calendar = new LocalCalendar(begun);
  return [...begun, { zone, from: calendar.startOf(addDays(calendar.dayOf(now))).toISOString() }];
}
