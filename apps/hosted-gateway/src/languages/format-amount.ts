/**
 * Formats amounts and dates in the language of the page. Does not use the locale of the browser, because browsers do
 * not support every language of the page, and might format an amount differently from the receipt. Amounts are
 * formatted from integer cents without floating-point arithmetic.
 */
import { fill } from './fill.js';

/**
 * Formats 123456 cents as "R 1 234.56", as is usual in South Africa, or with a decimal comma in Afrikaans. Uses plain
 * spaces, so that the text can be searched and screen readers can read it. The style sheet prevents line breaks.
 *
 * @throws RangeError if amountCents is not a whole number, or negative
 */
export function formatAmount(amountCents: number, currencyISOCode: string, language: { decimalMark: string }): string {
  if (!Number.isSafeInteger(amountCents) || amountCents < 0) throw new RangeError('amountCents must be whole cents');
  const digits = String(amountCents).padStart(3, '0');
  const decimal = `${digits.slice(0, -2)}.${digits.slice(-2)}` as Intl.StringNumericLiteral;
  return amountFormat(currencyISOCode)
    .formatToParts(decimal)
    .map(({ type, value }) => (type === 'group' ? ' ' : type === 'decimal' ? language.decimalMark : value))
    .join('')
    .replace(/\s/g, ' ');
}

/** Cached by currency, because creating a format takes longer than rendering the rest of the page. */
const amountFormats = new Map<string, Intl.NumberFormat>();

function amountFormat(currency: string): Intl.NumberFormat {
  const cachedFormat = amountFormats.get(currency);
  if (cachedFormat) return cachedFormat;
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  });
  amountFormats.set(currency, format);
  return format;
}

/**
 * Formats a time as "20 November 2026 at 20:03 SAST", in the time zone of the merchant (M7), so that the page, the
 * receipt and the merchant's statement have the same day. A browser that does not know the zone formats the time in UTC.
 *
 * @param timeZone IANA name
 */
export function formatTime(
  isoTime: string,
  { dateTime, months }: { dateTime: string; months: readonly string[] },
  timeZone: string,
): string {
  const parts = createTimeFormat(timeZone).formatToParts(new Date(isoTime));
  const valueOfType = Object.fromEntries(parts.map(({ type, value }) => [type, value])) as Record<
    Intl.DateTimeFormatPartTypes,
    string
  >;
  const month = months[Number(valueOfType.month) - 1] ?? valueOfType.month;
  const time = `${valueOfType.hour}:${valueOfType.minute} ${valueOfType.timeZoneName}`;
  return fill(dateTime, { day: Number(valueOfType.day), month, year: valueOfType.year, time });
}

function createTimeFormat(timeZone: string): Intl.DateTimeFormat {
  const options = {
    ...({ day: 'numeric', month: 'numeric', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const),
    ...({ hourCycle: 'h23', timeZoneName: 'short' } as const),
  };
  try {
    return new Intl.DateTimeFormat('en-ZA', { ...options, timeZone });
  } catch {
    return new Intl.DateTimeFormat('en-ZA', { ...options, timeZone: 'UTC' });
  }
}
