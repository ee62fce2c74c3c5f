import { randomInt } from 'node:crypto';

/**
 * The platform's own codes (D5): 20 random digits, shown as an address of the service. The digits alone are also valid, for typing
 * them instead of scanning. With 66 random bits, guessing an open code takes longer than the life of a code.
 */
const DIGITS = 20;

export function newOwnCode(): string {
  let code = '';
  while (code.length < DIGITS) code += String(randomInt(10_000_000_000)).padStart(10, '0');
  return code;
}

/** Whether the text has the format of a code, digits only. */
export function isOwnCode(text: string): boolean {
  return /^\d{20}$/.test(text);
}

/** The content of the QR code: `https://<service host>/c/<code>`. */
export function ownCodeText(code: string, codesUrl: string): string {
  return `${codesUrl}/c/${code}`;
}

/** The common part of all codes of the platform, for matching the code format. Without the scheme, which scanners may change. */
export function ownHostFragment(codesUrl: string): string {
  return `${new URL(codesUrl).host}/c/`;
}

/**
 * The digits, if the trimmed text is a code of the platform. Tolerates the changes that scanners and people make to an address:
 * capitals, another scheme or none, a trailing slash or query.
 */
export function parseOwnCode(text: string, codesUrl: string): string | undefined {
  if (isOwnCode(text)) return text;
  const rest = text.replace(/^https?:\/\//i, '');
  const prefix = ownHostFragment(codesUrl);
  if (rest.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return undefined;
  return /^(\d{20})\/?(?:[?#].*)?$/.exec(rest.slice(prefix.length))?.[1];
}
