import { randomInt } from 'node:crypto';

/**
 * The platform's own payment codes (D5). A code has 20 random digits. A QR code contains the digits in a URL of the
 * platform. The digits alone are also valid, so that a person can type them. They have 66 random bits, so a code
 * expires before it can be guessed.
 */
const DIGITS = 20;

export function newOwnCode(): string {
  let code = '';
  while (code.length < DIGITS) code += String(randomInt(10_000_000_000)).padStart(10, '0');
  return code;
}

/** Whether the text consists of the digits of a code, without a URL. */
export function isOwnCode(text: string): boolean {
  return /^\d{20}$/.test(text);
}

/** The content of the QR code: `<codesUrl>/c/<code>`. */
export function ownCodeText(code: string, codesUrl: string): string {
  return `${codesUrl}/c/${code}`;
}

/**
 * The text that all QR codes of the platform contain, so that their format can be recognised. The text does not contain
 * the scheme of the URL, because scanners may change the scheme.
 */
export function ownHostFragment(codesUrl: string): string {
  return `${new URL(codesUrl).host}/c/`;
}

/** Blanks that a scanner has percent-encoded: space, tab, line breaks and no-break space. */
const ENCODED_BLANKS = /%(?:20|09|0a|0d|c2%a0)/gi;

/**
 * Returns the digits if the text is a code of the platform, otherwise undefined. Accepts the changes that scanners and
 * people make to a URL: capitals, another scheme or no scheme, a trailing slash, a query, and surrounding blanks. This
 * is the only rule for codes: the payment page applies it to its own address.
 */
export function parseOwnCode(text: string, codesUrl: string): string | undefined {
  const trimmed = text.replace(ENCODED_BLANKS, ' ').trim();
  if (isOwnCode(trimmed)) return trimmed;
  // A code has only one line (D2).
  if (/[\n\r\u2028\u2029]/.test(trimmed)) return undefined;
  const rest = trimmed.replace(/^https?:\/\//i, '');
  const prefix = ownHostFragment(codesUrl);
  if (rest.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return undefined;
  const path = rest.slice(prefix.length).split(/[?#]/, 1)[0]!;
  // Removes the blanks with trim, because a pattern for blanks around an optional slash would take quadratic time.
  const code = path.trim().replace(/\/$/, '').trim();
  return isOwnCode(code) ? code : undefined;
}
