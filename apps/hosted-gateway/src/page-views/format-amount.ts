/**
 * Amounts and dates as the payer reads them. Amounts go from integer cents to text without a float in between.
 */

/**
 * "R 123.45" from 12345 cents.
 *
 * @param locale the payer's (BCP 47). `en-ZA` is read as `en`: CLDR gives it a decimal comma, while prices in English
 *   are written with a point in South African shops. Spaces are plain ones, so that the text can be searched and read
 *   out; the style sheet keeps it on one line.
 * @throws RangeError for anything but whole, non-negative cents
 */
export function formatAmount(amountCents: number, currencyISOCode: string, locale: string): string {
  if (!Number.isSafeInteger(amountCents) || amountCents < 0) throw new RangeError('amountCents must be whole cents');
  const digits = String(amountCents).padStart(3, '0');
  const decimal = `${digits.slice(0, -2)}.${digits.slice(-2)}` as Intl.StringNumericLiteral;
  return amountFormat(locale, currencyISOCode).format(decimal).replace(/\s/g, ' ');
}

/** Making one takes longer than rendering the rest of the page. The locale comes from strangers, so few are kept. */
const amountFormats = new Map<string, Intl.NumberFormat>();
const AMOUNT_FORMATS_MAX = 100;

function amountFormat(locale: string, currencyISOCode: string): Intl.NumberFormat {
  const name = `${currencyISOCode} ${locale}`;
  const kept = amountFormats.get(name);
  if (kept) return kept;
  const format = new Intl.NumberFormat(formattingLocale(locale), {
    style: 'currency',
    currency: currencyISOCode,
    currencyDisplay: 'narrowSymbol',
    numberingSystem: 'latn',
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  });
  if (amountFormats.size >= AMOUNT_FORMATS_MAX) amountFormats.clear();
  amountFormats.set(name, format);
  return format;
}

/** "20 November 2026 at 18:03 UTC": the server does not know the payer's time zone; the script puts it right. */
export function formatTime(isoTime: string, locale: string, timeZone?: string): string {
  const options: Intl.DateTimeFormatOptions = {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    numberingSystem: 'latn',
    ...(timeZone === undefined ? {} : { timeZone }),
  };
  return new Intl.DateTimeFormat(dateLocale(locale), options).format(new Date(isoTime)).replace(/\s/g, ' ');
}

function formattingLocale(locale: string): string {
  const usable = usableLocale(locale);
  return usable === 'en-ZA' ? 'en' : usable;
}

/** The page speaks English; the month's name must too. The region still decides the order of day and month. */
function dateLocale(locale: string): string {
  const usable = usableLocale(locale);
  return usable.split('-')[0] === 'en' && usable !== 'en' ? usable : 'en-GB';
}

/** Comes from a request header, so it may be anything. */
function usableLocale(locale: string): string {
  try {
    return (locale.length <= 35 && Intl.getCanonicalLocales(locale)[0]) || 'en';
  } catch {
    return 'en';
  }
}
