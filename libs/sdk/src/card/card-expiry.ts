/**
 * Parses and formats expiry dates while a person types. It does not use Node.js, because the payment page runs it in
 * the browser.
 */

export type ParsedExpiry =
  | { readonly ok: true; readonly expiryMonth: number; readonly expiryYear: number }
  /** `incomplete`: month or year is missing; `month`: not a month; `past`: expired; `far`: too far in the future. */
  | { readonly ok: false; readonly problem: 'incomplete' | 'month' | 'past' | 'far' };

/** No issuer issues cards that are valid for longer, so a later year is a typing error. */
const MAX_YEARS_AHEAD = 20;

/**
 * Parses "MM / YY" (also "MM/YY", "MMYY", "MM / YYYY", and with the year first "YYYY-MM", "YYYY/MM", "YYYYMM"). A year
 * of two digits is 20YY. A card is valid until the last day of its month in the payer's time zone, which is unknown
 * here. Therefore the card is refused only when the month has ended in every time zone (UTC-12), because it is worse to
 * refuse a valid card.
 *
 * @param now the current time, from the caller's clock
 */
export function parseExpiry(text: string, now: Date): ParsedExpiry {
  const parts = splitExpiry(text);
  if (!parts || (parts.year.length !== 2 && parts.year.length !== 4)) {
    return { ok: false, problem: 'incomplete' };
  }
  const expiryMonth = Number(parts.month);
  const expiryYear = parts.year.length === 2 ? 2000 + Number(parts.year) : Number(parts.year);
  if (expiryMonth < 1 || expiryMonth > 12) return { ok: false, problem: 'month' };
  const endOfMonthEverywhere = Date.UTC(expiryYear, expiryMonth, 1, 12);
  if (now.getTime() >= endOfMonthEverywhere) return { ok: false, problem: 'past' };
  if (expiryYear > now.getUTCFullYear() + MAX_YEARS_AHEAD) return { ok: false, problem: 'far' };
  return { ok: true, expiryMonth, expiryYear };
}

/**
 * Formats the text as "MM / YY" while a person types at its end:
 * - A first digit above 2 is a whole month: "5" becomes "05". A 1 that is followed by 3 to 9 is the whole month "01".
 * - After a first digit 2, the next digit shows whether the 2 means February or begins a year such as 2030.
 * - The result never ends in a separator. Otherwise the backspace key would delete the separator, and it would be added
 *   again.
 *
 * {@link parseExpiry} returns the same result for `text` and for the formatted text.
 */
export function formatExpiry(text: string): string {
  const parts = splitExpiry(text);
  if (!parts) return '';
  const year = parts.year.length === 4 && parts.year.startsWith('20') ? parts.year.slice(2) : parts.year;
  return year === '' ? parts.month : `${parts.month} / ${year}`;
}

/** Splits the text into month and year. As long as the year is missing, `month` contains all typed digits. */
function splitExpiry(text: string): { month: string; year: string } | undefined {
  const typed = text.normalize('NFKC').trim();
  if (!/^[\d\s/.\p{Dash_Punctuation}]*$/u.test(typed)) return undefined;
  const trimmed = typed.replace(/^\D+/, '');
  const [first = '', second = ''] = trimmed.split(/\D+/);
  const digits = trimmed.replace(/\D/g, '');
  if (first.length > 2 && first.startsWith('20')) return splitYearFirst(digits, first.length === 4 ? second : '');
  // True if a separator ends the month, as in "5/" and "5/27".
  const isWholeMonth = second === '' ? first.length === 1 && first !== trimmed : first.length <= 2;
  const isOneDigit = isWholeMonth ? first.length === 1 : /^([3-9]|1[3-9]|2[1-9])/.test(digits);
  const padded = isOneDigit ? `0${digits}` : digits;
  return { month: padded.slice(0, 2), year: padded.slice(2, 6) };
}

/**
 * Splits digits that begin with the year.
 *
 * @param month the digits after the separator, or '' without a separator. After a separator, a single digit from 2 to
 *   9 is a whole month
 */
function splitYearFirst(digits: string, month: string): { month: string; year: string } {
  if (month.length === 1 && digits.length === 5 && month !== '0' && month !== '1')
    return { month: `0${month}`, year: digits.slice(0, 4) };
  if (digits.length < 6) return { month: digits, year: '' };
  return { month: digits.slice(4, 6), year: digits.slice(0, 4) };
}
