/**
 * Properties of a card number: brand, length, grouping, check digit. It does not use Node.js, because the payment page
 * runs it in the payer's browser. It does *not* decide whether a card is valid: only the issuer can do that. A card
 * whose brand is missing here has the brand `unknown`, and can still be used to pay.
 */

export type CardBrandName =
  'visa' | 'mastercard' | 'amex' | 'diners' | 'discover' | 'jcb' | 'maestro' | 'unionpay' | 'unknown';

export interface CardBrand {
  readonly name: CardBrandName;
  /**
   * Display name, at most ten letters, because it is shown beside the number on a narrow phone. Empty for `unknown`.
   */
  readonly label: string;
  /** Sizes of the groups of digits on the card. Digits beyond the last group are added to the last group. */
  readonly groups: readonly number[];
  /** Numbers of digits that card numbers of the brand can have. */
  readonly lengths: readonly number[];
  /** Lengths of the security code (CVV, CVC, CID). */
  readonly cvvLengths: readonly number[];
}

/** By ISO/IEC 7812, a card number has at most 19 digits. No card number in use has fewer than 12. */
export const CARD_NUMBER_MIN_DIGITS = 12;
export const CARD_NUMBER_MAX_DIGITS = 19;

const UNKNOWN: CardBrand = {
  name: 'unknown',
  label: '',
  groups: [4, 4, 4, 4, 3],
  lengths: [12, 13, 14, 15, 16, 17, 18, 19],
  cvvLengths: [3, 4],
};

/** For each brand, inclusive ranges of the leading digits of its card numbers. */
const BRAND_RANGES: readonly { brand: CardBrand; ranges: readonly (readonly [string, string])[] }[] = [
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
    // Some of these numbers also belong to Discover. They are displayed as UnionPay.
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
 * The number without white space and dashes, and with full-width digits converted to ASCII digits. Other characters are
 * not removed, so that `4242x…` is refused as invalid and not mistaken for another number.
 */
export function normaliseCardNumber(text: string): string {
  return text.normalize('NFKC').replace(/[\s\p{Dash_Punctuation}]/gu, '');
}

/** Whether the text is 12 to 19 digits with a correct check digit (Luhn algorithm). */
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
 * The brand of a complete or partly typed number. The brand is `unknown` as long as the typed digits match several
 * brands, so that the page never shows a wrong brand.
 */
export function cardBrand(cardNumber: string): CardBrand {
  const digits = normaliseCardNumber(cardNumber);
  for (const { brand, ranges } of BRAND_RANGES) {
    for (const [first, last] of ranges) {
      const prefix = digits.slice(0, first.length);
      if (prefix.length === first.length && prefix >= first && prefix <= last) return brand;
    }
  }
  return UNKNOWN;
}

/** Whether a complete number has a length that its brand uses, and a correct check digit. */
export function isCardNumberValid(cardNumber: string): boolean {
  const digits = normaliseCardNumber(cardNumber);
  return isLuhnValid(digits) && cardBrand(digits).lengths.includes(digits.length);
}

/**
 * The digits grouped as on the card ("4242 4242 4242 4242"), for display while a person types. Other characters are
 * omitted, and so are digits beyond the maximum length of the brand.
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
