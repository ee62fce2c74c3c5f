import { randomInt } from 'node:crypto';

const CHARACTERS = 'BCDFGHJKLMNPQRSTVWXZ23456789';
/** OpenAPI document of Checkout, `PaymentResponse.pspReference`. */
const LENGTH = 16;

/** A new PSP reference: 16 letters and digits, unique to a request or transaction. */
export function newPspReference(): string {
  return Array.from({ length: LENGTH }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join('');
}
