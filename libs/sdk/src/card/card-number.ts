/**
 * Properties of a card number: brand, length, grouping, check digit. Pure, and free of Node.js, because the payment page runs it
 * in the payer's browser. It does *not* decide whether a card is valid: only the issuer knows that. A card of a brand that is
 * missing here can still pay, as `unknown`.
 */

export type CardBrandName =
  'visa' | 'mastercard' | 'amex' | 'diners' | 'discover' | 'jcb' | 'maestro' | 'unionpay' | 'unknown';

export interface CardBrand {
  readonly name: CardBrandName;
  /** Display name, at most ten letters, because it is shown beside the number on a narrow phone. Empty for `unknown`. */
  readonly label: string;
  /** How the digits are grouped on the card; digits beyond the last group join it. */
  readonly groups: readonly number[];
  /** Numbers of digits the brand issues. */
  readonly lengths: readonly number[];
  /** Lengths of the security code (CVV, CVC, CID). */
  readonly cvvLengths: readonly number[];
}

/** ISO/IEC 7812: a card number never has more than 19 digits; none in use has fewer than 12. */
export const CARD_NUMBER_MIN_DIGITS = 12;
export const CARD_NUMBER_MAX_DIGITS = 19;

const UNKNOWN: CardBrand = {
  name: 'unknown',
  label: '',
  groups: [4, 4, 4, 4, 3],
  lengths: [12, 13, 14, 15, 16, 17, 18, 19],
  cvvLengths: [3, 4],
};

/** Issuer ranges, inclusive, compared on as many leading digits as the bounds have. */
const RANGES: readonly { brand: CardBrand; ranges: readonly (readonly [string, string])[] }[] = [
  {
    brand: { name: 'visa', label: 'Visa', groups: [4, 4, 4, 4, 3], lengths: [13, 16, 19], cvvLengths: [3] },
    ranges: [['4', '4']],
  },
  {
    brand: { name: 'mastercard', label: 'Mastercard', groups: [4, 4, 4, 4], lengths: [16], cvvLengths: [3] },
    ranges: [
      ['51', '55'],
      ['2221', '2720'],
    ],
  },
  {
    brand: { name: 'amex', label: 'Amex', groups: [4, 6, 5], lengths: [15], cvvLengths: [4] },
    ranges: [
      ['34', '34'],
      ['37', '37'],
    ],
  },
  {
    brand: {
      name: 'diners',
      label: 'Diners',
      groups: [4, 6, 4],
      lengths: [14, 15, 16, 17, 18, 19],
      cvvLengths: [3],
    },
    ranges: [
      ['300', '305'],
      ['3095', '3095'],
      ['36', '36'],
      ['38', '39'],
    ],
  },
  {
    brand: { name: 'discover', label: 'Discover', groups: [4, 4, 4, 4, 3], lengths: [16, 17, 18, 19], cvvLengths: [3] },
    ranges: [
      ['6011', '6011'],
      ['644', '649'],
      ['65', '65'],
    ],
  },
  {
    brand: { name: 'jcb', label: 'JCB', groups: [4, 4, 4, 4, 3], lengths: [16, 17, 18, 19], cvvLengths: [3] },
    ranges: [['3528', '3589']],
  },
  {
    // Some of them are also Discover's; they are shown as UnionPay.
    brand: { name: 'unionpay', label: 'UnionPay', groups: [4, 4, 4, 4, 3], lengths: [16, 17, 18, 19], cvvLengths: [3] },
    ranges: [
      ['62', '62'],
      ['81', '81'],
    ],
  },
  {
    brand: {
      name: 'maestro',
      label: 'Maestro',
      groups: [4, 4, 4, 4, 3],
      lengths: [12, 13, 14, 15, 16, 17, 18, 19],
      cvvLengths: [3],
    },
    ranges: [
      ['50', '50'],
      ['56', '58'],
      ['63', '63'],
      ['67', '67'],
    ],
  },
];

/**
 * The number as bare digits: removes white space and dashes and converts full-width digits. Other characters stay, so that
 * `4242x…` is refused instead of read as another number.
 */
export function normaliseCardNumber(text: string): string {
  return text.normalize('NFKC').replace(/[\s\p{Dash_Punctuation}]/gu, '');
}

/** Whether the digits form a card number: 12 to 19 of them, with a correct check digit (Luhn, mod 10). */
export function isLuhnValid(digits: string): boolean {
  if (!/^\d{12,19}$/.test(digits)) return false;
  let sum = 0;
  for (let fromRight = 0; fromRight < digits.length; fromRight++) {
    const digit = digits.charCodeAt(digits.length - 1 - fromRight) - 48;
    const doubled = fromRight % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/**
 * The brand of a whole or half-typed number. Half-typed digits that still fit two brands are `unknown`, so the page never shows a
 * wrong brand.
 */
export function cardBrand(cardNumber: string): CardBrand {
  const digits = normaliseCardNumber(cardNumber);
  for (const { brand, ranges } of RANGES) {
    for (const [first, last] of ranges) {
      const prefix = digits.slice(0, first.length);
      if (prefix.length === first.length && prefix >= first && prefix <= last) return brand;
    }
  }
  return UNKNOWN;
}

/** Whether a complete number is one its brand could have issued: right length and right check digit. */
export function isCardNumberValid(cardNumber: string): boolean {
  const digits = normaliseCardNumber(cardNumber);
  return isLuhnValid(digits) && cardBrand(digits).lengths.includes(digits.length);
}

/**
 * The digits grouped as on the card ("4242 4242 4242 4242"), for display while a person types. Omits other characters and digits
 * beyond the brand's longest number.
 */
export function formatCardNumber(text: string): string {
  const typed = text.normalize('NFKC').replace(/\D/g, '');
  const brand = cardBrand(typed);
  const digits = typed.slice(0, Math.max(...brand.lengths));
  const parts: string[] = [];
  let from = 0;
  for (const [index, size] of brand.groups.entries()) {
    if (from >= digits.length) break;
    const isLast = index === brand.groups.length - 1;
    parts.push(digits.slice(from, isLast ? undefined : from + size));
    from += size;
  }
  return parts.join(' ');
}
