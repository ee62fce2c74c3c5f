import { addDays, isCalendarDay } from '@svc/kernel';
import type { MerchantClock } from '../languages/format.js';
import type { SalesSum } from './sum-sales.query.js';

/** Oldest day that the page shows, in days before today. */
const MAX_DAYS_BACK = 366;

interface Window {
  readonly from: Date;
  readonly until: Date;
}

/** A day of the merchant, such as `2026-11-20`. */
export interface ChosenDay extends Window {
  readonly day: string;
  readonly isToday: boolean;
  /** Undefined if the page does not show it. */
  readonly previous: string | undefined;
  readonly next: string | undefined;
  /** The same weekday a week before; for today, until the same time. */
  readonly before: Window;
}

/** The chosen day, or today for any other value than a day of the last year. */
export function chooseDay(clock: Pick<MerchantClock, 'dayOf' | 'startOf'>, now: Date, chosen: unknown): ChosenDay {
  const today = clock.dayOf(now);
  const oldest = addDays(today, -MAX_DAYS_BACK);
  const day = isCalendarDay(chosen) && chosen >= oldest && chosen < today ? chosen : today;
  const isToday = day === today;
  const from = clock.startOf(day);
  const weekBefore = clock.startOf(addDays(day, -7));
  return {
    day,
    isToday,
    previous: day > oldest ? addDays(day, -1) : undefined,
    next: isToday ? undefined : addDays(day),
    from,
    until: clock.startOf(addDays(day)),
    before: {
      from: weekBefore,
      until: isToday
        ? new Date(weekBefore.getTime() + now.getTime() - from.getTime())
        : clock.startOf(addDays(day, -6)),
    },
  };
}

/** The sums of a day, or of a part of a day. Amounts in cents. */
export interface DaySums {
  readonly sales: number;
  readonly paid: number;
  readonly failed: number;
  /** Sales by hour since the beginning of the day. */
  readonly hours: ReadonlyMap<number, number>;
  readonly sites: ReadonlyMap<number, { readonly paid: number; readonly sales: number }>;
}

export function sumDay(sums: readonly SalesSum[]): DaySums {
  const bySite = sums.filter(({ siteId }) => siteId !== null);
  const paid = bySite.filter(({ state }) => state === 'success');
  const failed = bySite.filter(({ state }) => state === 'failed');
  const hours = sums.filter(({ hour, state }) => hour !== null && state === 'success');
  return {
    sales: total(paid, 'amount'),
    paid: total(paid, 'count'),
    failed: total(failed, 'count'),
    hours: new Map(hours.map(({ hour, amount }) => [hour!, amount])),
    sites: new Map(paid.map(({ siteId, count, amount }) => [siteId!, { paid: count, sales: amount }])),
  };
}

/** Whole per cent of the final payments that were approved; undefined without payments. */
export function approvalPercent({ paid, failed }: DaySums): number | undefined {
  return paid + failed === 0 ? undefined : Math.round((100 * paid) / (paid + failed));
}

/** Cents, rounded half up; undefined without sales. */
export function averageSale({ sales, paid }: DaySums): number | undefined {
  return paid === 0 ? undefined : Math.round(sales / paid);
}

function total(sums: readonly SalesSum[], member: 'amount' | 'count'): number {
  return sums.reduce((sum, item) => sum + item[member], 0);
}
