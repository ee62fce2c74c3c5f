import type { TimeZonePeriod } from '@svc/contracts';
import { LocalCalendar } from '@svc/kernel';
import type { Texts } from './en/en.js';

/** The currency of the platform, in which a sum of no payments is shown. */
export const CURRENCY = 'ZAR';

/** Begins a CSV file. Excel takes a file without it for one in the encoding of the computer. */
export const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Formats 123456 cents as "R 1 234.56", with the decimal mark of the language, without floating-point arithmetic. The
 * spaces do not break.
 */
export function formatAmount(
  amountCents: number,
  currency: string,
  { decimalMark }: Pick<Texts, 'decimalMark'>,
): string {
  if (!Number.isSafeInteger(amountCents)) throw new RangeError('amountCents must be whole cents');
  const digits = String(Math.abs(amountCents)).padStart(3, '0');
  const rand = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, '\u00a0');
  const symbol = currency === CURRENCY ? 'R' : currency;
  return `${amountCents < 0 ? '−' : ''}${symbol}\u00a0${rand}${decimalMark}${digits.slice(-2)}`;
}

/** 123456 cents as `1234.56`: a number without a symbol, for a field or a spreadsheet. */
export function formatDecimal(cents: number): string {
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Times of a merchant's own day (M7). */
export class MerchantClock {
  private readonly calendar: LocalCalendar;

  constructor(periods: readonly TimeZonePeriod[]) {
    this.calendar = new LocalCalendar(periods);
  }

  zoneAt(time: Date): string {
    return this.calendar.zoneAt(time);
  }

  dayOf(time: Date): string {
    return this.calendar.dayOf(time);
  }

  startOf(day: string): Date {
    return this.calendar.startOf(day);
  }

  /** `2026-11-20 18:03`, in the merchant's day. */
  format(isoTime: string): string {
    const { date, time } = this.calendar.toMerchantTime(new Date(isoTime));
    return `${date} ${time.slice(0, 5)}`;
  }

  /** `18:03:36`. */
  formatTime(isoTime: string): string {
    return this.calendar.toMerchantTime(new Date(isoTime)).time;
  }
}

const AMOUNT = /^R?\s?(?<rand>\d{1,3}(?:[ ,]\d{3})+|\d{1,9})(?:[.,](?<cents>\d{2}))?$/i;

/** Reads "R 1 234.50", "1234,50" or "250" as cents, without floating-point arithmetic. */
export function parseAmount(text: string): number | undefined {
  const groups = AMOUNT.exec(text.trim())?.groups;
  if (groups === undefined) return undefined;
  return Number(groups['rand']!.replaceAll(/[ ,]/g, '')) * 100 + Number(groups['cents'] ?? 0);
}
