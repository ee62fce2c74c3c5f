import type { Card } from '../state/records.js';
import { AdyenError } from './adyen-error.js';

/** A card as a request contains it. */
export interface RawCard {
  readonly number: string;
  readonly expiryMonth: string;
  readonly expiryYear: string;
  readonly cvc?: string | undefined;
  readonly holderName?: string | undefined;
}

/** Expiry date and security codes of the published test cards. */
const TEST_EXPIRY = { month: '3', year: '2030' };
const TEST_CVC: Readonly<Record<string, string>> = { amex: '7373' };
const DEFAULT_TEST_CVC = '737';

/** Test cards that 3D Secure does not authenticate. OpenAPI document of Checkout; documentation: "Test card numbers". */
const NOT_ENROLLED: ReadonlySet<string> = new Set(['4111111111111111', '5555555555554444', '370000000000002']);

/** Documentation: "Testing 3D Secure 2 authentication", and the example of a redirect in the OpenAPI document. */
const ENROLLED: ReadonlySet<string> = new Set([
  '4212345678901237',
  '371449635398431',
  '4035501428146300',
  '4360000001000005',
  '30569309025904',
  '6011111111111117',
  '3566111111111113',
  '5454545454545454',
  '2222400010000008',
]);

/** Numbers of the brands' ranges, with Adyen's names of the brands. */
const BRANDS: readonly (readonly [range: RegExp, brand: string])[] = [
  [/^4/, 'visa'],
  [/^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, 'mc'],
  [/^3[47]/, 'amex'],
  [/^3(0[0-5]|6|8)/, 'diners'],
  [/^6(011|5|4[4-9])/, 'discover'],
  [/^35/, 'jcb'],
];

/**
 * Checks a card and removes its number and security code. Besides the published test cards, every number with a valid
 * check digit is accepted, and is not enrolled in 3D Secure.
 */
export function readCard({ number, expiryMonth, expiryYear, cvc, holderName }: RawCard): Card {
  // Documentation: "Error codes and messages", 101, 103 and 129.
  if (!/^\d{12,19}$/.test(number) || !hasValidCheckDigit(number))
    throw new AdyenError(422, '101', 'Invalid card number');
  if (cvc !== undefined && !/^\d{3,4}$/.test(cvc)) throw new AdyenError(422, '103', 'CVC is not the right length');
  if (!/^(0?[1-9]|1[0-2])$/.test(expiryMonth) || !/^20\d\d$/.test(expiryYear))
    throw new AdyenError(422, '129', 'Expiry Date Invalid');
  const brand = BRANDS.find(([range]) => range.test(number))?.[1] ?? 'unknowncard';
  const month = String(Number(expiryMonth));
  const isTestCard = NOT_ENROLLED.has(number) || ENROLLED.has(number);
  return {
    brand,
    bin: number.slice(0, 6),
    lastFour: number.slice(-4),
    expiryMonth: month,
    expiryYear,
    ...(holderName === undefined ? {} : { holderName }),
    isEnrolled: ENROLLED.has(number),
    isWrong:
      isTestCard &&
      (month !== TEST_EXPIRY.month ||
        expiryYear !== TEST_EXPIRY.year ||
        (cvc !== undefined && cvc !== (TEST_CVC[brand] ?? DEFAULT_TEST_CVC))),
  };
}

/** Whether the last day of the card's month has passed. */
export function isExpired({ expiryMonth, expiryYear }: Card, now: Date): boolean {
  return now.getTime() >= Date.UTC(Number(expiryYear), Number(expiryMonth), 1);
}

/** The check digit of ISO/IEC 7812 (Luhn). */
function hasValidCheckDigit(number: string): boolean {
  const sum = [...number].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
