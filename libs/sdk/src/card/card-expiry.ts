/** Expiry dates as people type them. Pure, and free of Node.js: the payment page runs it in the browser. */

export type ParsedExpiry =
  | { readonly ok: true; readonly expiryMonth: number; readonly expiryYear: number }
  /** `incomplete`: month or year is missing; `month`: not a month; `past`: expired; `far`: too far in the future. */
  | { readonly ok: false; readonly problem: 'incomplete' | 'month' | 'past' | 'far' };

/** No issuer makes cards valid for longer; a year beyond it is a typing error. */
const MAX_YEARS_AHEAD = 20;

/**
 * Reads "MM / YY" (also "MM/YY", "MMYY", "MM / YYYY", and year first: "YYYY-MM", "YYYY/MM", "YYYYMM"). Two digits of a year mean
 * 20YY. A card is valid until the last day of its month in the payer's time zone, so the month counts as over only when it is
 * over everywhere on Earth (UTC-12): refusing a valid card is the worse error.
 *
 * @param now the current time, from the caller's clock
 */
export function parseExpiry(text: string, now: Date): ParsedExpiry {
  const parts = expiryParts(text);
  if (!parts || (parts.year.length !== 2 && parts.year.length !== 4)) {
    return { ok: false, problem: 'incomplete' };
  }
  const expiryMonth = Number(parts.month);
  const expiryYear = parts.year.length === 2 ? 2000 + Number(parts.year) : Number(parts.year);
  if (expiryMonth < 1 || expiryMonth > 12) return { ok: false, problem: 'month' };
  const overEverywhere = Date.UTC(expiryYear, expiryMonth, 1, 12);
  if (now.getTime() >= overEverywhere) return { ok: false, problem: 'past' };
  if (expiryYear > now.getUTCFullYear() + MAX_YEARS_AHEAD) return { ok: false, problem: 'far' };
  return { ok: true, expiryMonth, expiryYear };
}

/**
 * "MM / YY" while a person types at the end of the text. A first digit above 2 can only be a whole month ("5" becomes "05"), and
 * so can a 1 before 3 to 9; after a 2 the next digit tells February from a year. There is no separator at the end, or the
 * backspace key would never get past it. {@link parseExpiry} reads the same from the text before and after.
 */
export function formatExpiry(text: string): string {
  const parts = expiryParts(text);
  if (!parts) return '';
  const year = parts.year.length === 4 && parts.year.startsWith('20') ? parts.year.slice(2) : parts.year;
  return year === '' ? parts.month : `${parts.month} / ${year}`;
}

/** A half-typed date has no year; its month is then all that was typed. */
function expiryParts(text: string): { month: string; year: string } | undefined {
  const typed = text.normalize('NFKC').trim();
  if (!/^[\d\s/.\p{Dash_Punctuation}]*$/u.test(typed)) return undefined;
  const plain = typed.replace(/^\D+/, '');
  const [first = '', second = ''] = plain.split(/\D+/);
  const digits = plain.replace(/\D/g, '');
  if (first.length > 2 && first.startsWith('20')) return yearFirst(digits, first.length === 4 ? second : '');
  const isWholeMonth = second === '' ? first.length === 1 && first !== plain : first.length <= 2;
  if (first === '20' && !isWholeMonth) return { month: digits, year: '' };
  const isOneDigit = isWholeMonth ? first.length === 1 : /^([3-9]|1[3-9]|2[1-9])/.test(digits);
  const padded = isOneDigit ? `0${digits}` : digits;
  return { month: padded.slice(0, 2), year: padded.slice(2, 6) };
}

/** @param month the text after a separator, where one digit is a whole month */
function yearFirst(digits: string, month: string): { month: string; year: string } {
  if (month.length === 1 && digits.length === 5 && month !== '0' && month !== '1')
    return { month: `0${month}`, year: digits.slice(0, 4) };
  if (digits.length < 6) return { month: digits, year: '' };
  return { month: digits.slice(4, 6), year: digits.slice(0, 4) };
}
