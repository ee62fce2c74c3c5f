/** Expiry dates as people type them. Pure, and free of Node.js: the payment page runs it in the browser. */

export type ParsedExpiry =
  | { readonly ok: true; readonly expiryMonth: number; readonly expiryYear: number }
  /** `incomplete`: not month and year yet; `month`: no such month; `past`: already expired; `far`: no card lives so long. */
  | { readonly ok: false; readonly problem: 'incomplete' | 'month' | 'past' | 'far' };

/** No issuer makes cards valid for longer; a year beyond it is a typing error. */
const MAX_YEARS_AHEAD = 20;

/**
 * Reads "MM / YY" (also "MM/YY", "MMYY", "MM / YYYY", "YYYY-MM" as browsers fill it in). Two digits of a year mean
 * 20YY. A card is good to the last day of its month; which day that is depends on where the payer stands, so the
 * month is taken as over only when it is over everywhere on Earth (UTC-12): refusing a good card is the worse error.
 *
 * @param now the present time, from a clock the caller controls
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
 * "MM / YY" while somebody types. A first digit above 1 can only be a whole month ("5" becomes "05"). There is no
 * separator at the end, or the backspace key would never get past it.
 */
export function formatExpiry(text: string): string {
  const parts = expiryParts(text);
  if (!parts) return '';
  const year = parts.year.length === 4 && parts.year.startsWith('20') ? parts.year.slice(2) : parts.year;
  return year === '' ? parts.month : `${parts.month} / ${year}`;
}

function expiryParts(text: string): { month: string; year: string } | undefined {
  const plain = text.normalize('NFKC').trim();
  const isoMonth = /^(\d{4})-(\d{2})$/.exec(plain);
  if (isoMonth) return { month: isoMonth[2]!, year: isoMonth[1]! };
  if (!/^[\d\s/.\p{Dash_Punctuation}]*$/u.test(plain)) return undefined;
  const digits = (/^\d\D/.test(plain) ? `0${plain}` : plain).replace(/\D/g, '');
  const padded = /^[2-9]/.test(digits) ? `0${digits}` : digits;
  return { month: padded.slice(0, 2), year: padded.slice(2, 6) };
}
