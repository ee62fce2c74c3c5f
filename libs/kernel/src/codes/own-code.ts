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

/**
 * Returns the digits if the text is a code of the platform, otherwise undefined. Accepts the changes that scanners and
 * people make to a URL: capitals, another scheme or no scheme, a trailing slash or a query.
 */
export function parseOwnCode(text: string, codesUrl: string): string | undefined {
  if (isOwnCode(text)) return text;
  const rest = text.replace(/^https?:\/\//i, '');
  const prefix = ownHostFragment(codesUrl);
  if (rest.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return undefined;
  return /^(\d{20})\/?(?:[?#].*)?$/.exec(rest.slice(prefix.length))?.[1];
}
