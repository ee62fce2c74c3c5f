/**
 * Amounts and dates as the payer reads them, in the page's language and not by the region of a browser: browsers do not have
 * the formats of every language here, and a region would write the same amount in another way than the receipt. Amounts go
 * from integer cents to text without a float in between.
 */
import { fill } from './fill.js';

/**
 * "R 1 234.56" from 123456 cents, as South Africans write it; with a decimal comma in Afrikaans. Spaces are plain ones, so that the
 * text can be searched and read out; the style sheet keeps it on one line.
 *
 * @throws RangeError for anything but whole, non-negative cents
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

/** By currency. Making one takes longer than rendering the rest of the page. */
const amountFormats = new Map<string, Intl.NumberFormat>();

function amountFormat(currency: string): Intl.NumberFormat {
  const kept = amountFormats.get(currency);
  if (kept) return kept;
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

/** "20 November 2026 at 18:03 UTC": the server does not know the payer's time zone; the script puts it right. */
export function formatTime(
  isoTime: string,
  { dateTime, months }: { dateTime: string; months: readonly string[] },
  timeZone?: string,
): string {
  const parts = new Intl.DateTimeFormat('en-ZA', {
    day: 'numeric',
    month: 'numeric',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).formatToParts(new Date(isoTime));
  const of = Object.fromEntries(parts.map(({ type, value }) => [type, value])) as Record<
    Intl.DateTimeFormatPartTypes,
    string
  >;
  const month = months[Number(of.month) - 1] ?? of.month;
  const time = `${of.hour}:${of.minute} ${of.timeZoneName}`;
  return fill(dateTime, { day: Number(of.day), month, year: of.year, time });
}
