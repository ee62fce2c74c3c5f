import { addDays, FIRST_LOCAL_DAY, invalidField, isCalendarDay, type LocalCalendar } from '@svc/kernel';

/** Maximum number of days in one statement. */
const MAX_DAYS = 366;

/** The days that a caller requests: one day, or the first and the last day of a range. Not validated yet. */
export type RequestedDays = { readonly day: unknown } | { readonly from: unknown; readonly to: unknown };

/** Days of a merchant, with their beginning and end. */
export interface SettlementRange {
  /** The first day, `YYYY-MM-DD`. */
  readonly from: string;
  /** The last day. */
  readonly to: string;
  /** The beginning of the first day. */
  readonly start: Date;
  /** The end of the last day, exclusive. */
  readonly end: Date;
}

/** @throws DomainError `request.invalid` for an invalid or future day, and for too many days */
export function parseSettlementRange(requested: RequestedDays, calendar: LocalCalendar, now: Date): SettlementRange {
  if ('day' in requested) {
    const day = parseDay('day', requested.day, calendar, now);
    return toRange(day, day, calendar);
  }
  const from = parseDay('from', requested.from, calendar, now);
  const to = requested.to === undefined ? from : parseDay('to', requested.to, calendar, now);
  if (to < from) throw invalidField('to', 'to must not be before from');
  if (to >= addDays(from, MAX_DAYS)) throw invalidField('to', `to must be within ${MAX_DAYS} days from from`);
  return toRange(from, to, calendar);
}

function parseDay(field: string, value: unknown, calendar: LocalCalendar, now: Date): string {
  if (!isCalendarDay(value)) throw invalidField(field, `${field} must be a date, given once, as in 2026-11-20`);
  if (value < FIRST_LOCAL_DAY || value > calendar.dayOf(now))
    throw invalidField(field, `${field} must be a day that has begun in ${calendar.zoneAt(now)}`);
  return value;
}

function toRange(from: string, to: string, calendar: LocalCalendar): SettlementRange {
  return { from, to, start: calendar.startOf(from), end: calendar.startOf(addDays(to)) };
}
