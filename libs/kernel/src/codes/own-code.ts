import { randomInt } from 'node:crypto';

/**
 * Codes of our own (D5): 20 random digits, shown as an address of the service. The digits alone are a code too, to be
 * typed where nothing can be scanned. 66 random bits: guessing one that is open takes longer than any lives.
 */
const DIGITS = 20;

export function newOwnCode(): string {
  let code = '';
  while (code.length < DIGITS) code += String(randomInt(10_000_000_000)).padStart(10, '0');
  return code;
}

/** Whether it has the shape of one; the digits alone. */
export function isOwnCode(text: string): boolean {
  return /^\d{20}$/.test(text);
}

/** The text that is scanned: `https://<service host>/c/<code>`. */
export function ownCodeText(code: string, codesUrl: string): string {
  return `${codesUrl}/c/${code}`;
}

/** What all our codes have in common: the fragment of the support test. Without the scheme, which scanners change. */
export function ownHostFragment(codesUrl: string): string {
  return `${new URL(codesUrl).host}/c/`;
}

/**
 * The digits, where the trimmed text is a code of ours. Generous about what scanners and people make of an address:
 * capitals, the other scheme or none, a slash or query at the end.
 */
export function parseOwnCode(text: string, codesUrl: string): string | undefined {
  if (isOwnCode(text)) return text;
  const rest = text.replace(/^https?:\/\//i, '');
  const prefix = ownHostFragment(codesUrl);
  if (rest.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return undefined;
  return /^(\d{20})\/?(?:[?#].*)?$/.exec(rest.slice(prefix.length))?.[1];
}
