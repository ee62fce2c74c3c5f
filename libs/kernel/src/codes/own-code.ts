import { randomInt } from 'node:crypto';

/**
 * Codes of our own (D5): 20 random digits, shown as an address of the service. The digits alone are a valid code too, for manual
 * input. 66 random bits: an attacker needs longer to guess an open one than any stays open.
 */
const DIGITS = 20;

export function newOwnCode(): string {
  let code = '';
  while (code.length < DIGITS) code += String(randomInt(10_000_000_000)).padStart(10, '0');
  return code;
}

/** Whether the text, digits only, has the form of a code of ours. */
export function isOwnCode(text: string): boolean {
  return /^\d{20}$/.test(text);
}

/** The text in the QR code: `https://<service host>/c/<code>`. */
export function ownCodeText(code: string, codesUrl: string): string {
  return `${codesUrl}/c/${code}`;
}

/** The common part of all our codes, which the support test matches. Without the scheme, which scanners change. */
export function ownHostFragment(codesUrl: string): string {
  return `${new URL(codesUrl).host}/c/`;
}

/**
 * The digits, if the trimmed text is a code of ours. Accepts changes that scanners and people make to an address: capitals,
 * another scheme or none, a slash or query at the end.
 */
export function parseOwnCode(text: string, codesUrl: string): string | undefined {
  if (isOwnCode(text)) return text;
  const rest = text.replace(/^https?:\/\//i, '');
  const prefix = ownHostFragment(codesUrl);
  if (rest.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return undefined;
  return /^(\d{20})\/?(?:[?#].*)?$/.exec(rest.slice(prefix.length))?.[1];
}
