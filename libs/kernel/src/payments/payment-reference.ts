import { randomInt } from 'node:crypto';

/**
 * The payment reference (C3): 18 characters of Crockford base32. 7 are the time in seconds, 10 are random, and 1 is a
 * check character (Luhn mod 32). It is short enough to read out over a telephone, and a mistyped reference is rejected
 * without a query.
 */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_LENGTH = 7;
const RANDOM_LENGTH = 10;
const SHAPE = /^[0-9A-HJKMNP-TV-Z]{18}$/i;

export function newPaymentReference(now: Date): string {
  let body = '';
  for (let seconds = Math.floor(now.getTime() / 1000), i = 0; i < TIME_LENGTH; i++) {
    body = ALPHABET[seconds % 32] + body;
    seconds = Math.floor(seconds / 32);
  }
  for (let i = 0; i < RANDOM_LENGTH; i++) body += ALPHABET[randomInt(32)];
  return body + checkCharacter(body);
}

/**
 * Returns the reference in upper case, or undefined if it is malformed. The response to a malformed reference is a 404,
 * not a 400 (C3).
 */
export function parsePaymentReference(text: string): string | undefined {
  if (!SHAPE.test(text)) return undefined;
  const reference = text.toUpperCase();
  return checkCharacter(reference.slice(0, -1)) === reference.at(-1) ? reference : undefined;
}

/**
 * Luhn mod N: detects each single wrong character, and almost each swap of two adjacent characters. The algorithm
 * defines its weights from the right. For 17 characters, the weights are the same if they are counted from the left.
 */
function checkCharacter(body: string): string {
  let factor = 2;
  let sum = 0;
  for (const character of body) {
    const addend = factor * ALPHABET.indexOf(character);
    sum += Math.floor(addend / 32) + (addend % 32);
    factor = factor === 2 ? 1 : 2;
  }
  return ALPHABET.charAt((32 - (sum % 32)) % 32);
}
