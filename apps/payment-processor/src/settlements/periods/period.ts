import { addDays, invalidField, isCalendarDay, type LocalCalendar } from '@svc/kernel';
import { parseSettlementRange, type SettlementRange } from '../settlement-range.js';

const MONTH = /^\d{4}-\d{2}$/;

/**
 * The days of a month or of one day. The present month ends with today.
 *
 * @param period a month, `2026-11`, or a day, `2026-11-20`
 * @throws DomainError `request.invalid` for another text, and for a period that has not begun
 */
export function parsePeriod(period: string, calendar: LocalCalendar, now: Date): SettlementRange {
  const from = `${period}-01`;
  if (isCalendarDay(period)) return parseSettlementRange({ day: period }, calendar, now);
  if (!MONTH.test(period) || !isCalendarDay(from))
    throw invalidField('period', 'period must be a month, as in 2026-11, or a day, as in 2026-11-20');
  const [lastDay, today] = [lastDayOfMonth(from), calendar.dayOf(now)];
  return parseSettlementRange({ from, to: today < lastDay && today >= from ? today : lastDay }, calendar, now);
}

/** The days of a range, oldest first. */
export function listDays({ from, to }: Pick<SettlementRange, 'from' | 'to'>): string[] {
  const days: string[] = [];
  for (let day = from; day <= to; day = addDays(day)) days.push(day);
  return days;
}

function lastDayOfMonth(firstDay: string): string {
  const date = new Date(firstDay);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).toISOString().slice(0, 10);
}
