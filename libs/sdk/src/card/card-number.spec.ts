import fc from 'fast-check';
import { cardBrand, formatCardNumber, isCardNumberValid, isLuhnValid, normaliseCardNumber } from './card-number.js';

const digitStrings = (least: number, most: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: least, maxLength: most }).map((all) => all.join(''));

/**
 * Appends the digit that makes the Luhn sum divisible by ten. This second implementation of Luhn is independent of the
 * tested code.
 */
function withCheckDigit(payload: string): string {
  const sum = [...payload].reverse().reduce((total, digit, index) => {
    const weighted = index % 2 === 0 ? Number(digit) * 2 : Number(digit);
    return total + Math.floor(weighted / 10) + (weighted % 10);
  }, 0);
  return payload + String((10 - (sum % 10)) % 10);
}

describe('isLuhnValid', () => {
  it.each(['4242424242424242', '4000000000000002', '378282246310005', '30569309025904', '6011111111111117'])(
    'accepts %s',
    (number) => expect(isLuhnValid(number)).toBe(true),
  );

  it('accepts every number with its check digit, and refuses it with any other last digit', () => {
    fc.assert(
      fc.property(digitStrings(11, 18), fc.integer({ min: 1, max: 9 }), (payload, offset) => {
        const valid = withCheckDigit(payload);
        const invalid = payload + String((Number(valid.at(-1)) + offset) % 10);
        expect(isLuhnValid(valid)).toBe(true);
        expect(isLuhnValid(invalid)).toBe(false);
      }),
    );
  });

  it('detects one wrong digit at any position', () => {
    fc.assert(
      fc.property(digitStrings(11, 18), fc.nat(), fc.integer({ min: 1, max: 9 }), (payload, index, offset) => {
        const valid = withCheckDigit(payload);
        const position = index % valid.length;
        const wrongDigit = String((Number(valid[position]) + offset) % 10);
        expect(isLuhnValid(valid.slice(0, position) + wrongDigit + valid.slice(position + 1))).toBe(false);
      }),
    );
  });

  it.each([
    '',
    '0',
    '42424242424',
    '42424242424242424242',
    '4242 4242 4242 4242',
    '424242424242424x',
    '٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢',
  ])('refuses %p, which is not 12 to 19 plain digits', (text) => expect(isLuhnValid(text)).toBe(false));
});

describe('normaliseCardNumber', () => {
  it('removes the separators that people type between digits', () => {
    expect(normaliseCardNumber(' 4242\u00a04242-4242–4242\t')).toBe('4242424242424242');
    expect(normaliseCardNumber('４２４２')).toBe('4242');
  });

  it('does not remove other characters, so that the text remains an invalid number', () => {
    expect(normaliseCardNumber('4242x4242')).toBe('4242x4242');
  });
});

describe('cardBrand', () => {
  it.each([
    ['4', 'visa'],
    ['4242424242424242', 'visa'],
    ['5', 'unknown'],
    ['50', 'maestro'],
    ['51', 'mastercard'],
    ['5555 5555 5555 4444', 'mastercard'],
    ['2220', 'unknown'],
    ['2221', 'mastercard'],
    ['2720', 'mastercard'],
    ['2721', 'unknown'],
    ['23', 'unknown'],
    ['2300', 'mastercard'],
    ['34', 'amex'],
    ['378282246310005', 'amex'],
    ['300', 'diners'],
    ['306', 'unknown'],
    ['305', 'diners'],
    ['3095', 'diners'],
    ['3096', 'unknown'],
    ['36', 'diners'],
    ['37', 'amex'],
    ['38', 'diners'],
    ['39', 'diners'],
    ['6011', 'discover'],
    ['62', 'unionpay'],
    ['622126', 'unionpay'],
    ['81', 'unionpay'],
    ['3527', 'unknown'],
    ['3528', 'jcb'],
    ['3589', 'jcb'],
    ['3590', 'unknown'],
    ['55', 'mastercard'],
    ['56', 'maestro'],
    ['58', 'maestro'],
    ['59', 'unknown'],
    ['63', 'maestro'],
    ['67', 'maestro'],
    ['66', 'unknown'],
    ['643', 'unknown'],
    ['644', 'discover'],
    ['649', 'discover'],
    ['65', 'discover'],
    ['', 'unknown'],
    ['9', 'unknown'],
  ])('the brand of %s is %s', (number, name) => expect(cardBrand(number).name).toBe(name));

  const from = (least: number, most: number) => Array.from({ length: most - least + 1 }, (_, index) => least + index);

  it.each([
    ['4', 'Visa', [13, 16, 19], [3]],
    ['51', 'Mastercard', [16], [3]],
    ['34', 'Amex', [15], [4]],
    ['36', 'Diners', from(14, 19), [3]],
    ['65', 'Discover', from(16, 19), [3]],
    ['3528', 'JCB', from(16, 19), [3]],
    ['62', 'UnionPay', from(16, 19), [3]],
    ['50', 'Maestro', from(12, 19), [3]],
    ['9', '', from(12, 19), [3, 4]],
  ])('the brand of %s has the label %p, numbers of %j digits and security codes of %j digits', (start, ...expected) => {
    const isValidWithLength = (length: number) => isCardNumberValid(withCheckDigit(start.padEnd(length - 1, '0')));
    const { label, cvvLengths } = cardBrand(start);
    expect([label, from(1, 25).filter(isValidWithLength), cvvLengths]).toEqual(expected);
  });

  it('returns the same brand for any further digits, once the first digits determine a brand', () => {
    const starts = fc.constantFrom(
      '4',
      '51',
      '2221',
      '2720',
      '34',
      '37',
      '300',
      '3095',
      '36',
      '6011',
      '62',
      '65',
      '3528',
      '50',
      '67',
    );
    fc.assert(
      fc.property(starts, digitStrings(0, 16), digitStrings(0, 3), (start, typed, rest) => {
        const brand = cardBrand(start);
        expect(brand.name).not.toBe('unknown');
        expect(cardBrand(start + typed)).toBe(brand);
        expect(cardBrand(start + typed + rest)).toBe(brand);
      }),
    );
  });
});

describe('isCardNumberValid', () => {
  it('checks the check digit, and the length by the brand', () => {
    expect(isCardNumberValid('4242 4242 4242 4242')).toBe(true);
    expect(isCardNumberValid('4242 4242 4242 4243')).toBe(false);
    // The check digit is correct, but American Express numbers have 15 digits.
    expect(isCardNumberValid(withCheckDigit('371234567890123'))).toBe(false);
  });
});

describe('formatCardNumber', () => {
  it.each([
    ['4242424242424242', '4242 4242 4242 4242'],
    ['42424', '4242 4'],
    ['4242', '4242'],
    ['378282246310005', '3782 822463 10005'],
    ['36227206271667', '3622 720627 1667'],
    ['3622720627166712345', '3622 720627 166712345'],
    ['5555555555554444999', '5555 5555 5555 4444'],
    ['4242424242424242777', '4242 4242 4242 4242 777'],
    ['6011000990139424111', '6011 0009 9013 9424 111'],
    ['3530111333300000111', '3530 1113 3330 0000 111'],
    ['6200000000000005111', '6200 0000 0000 0005 111'],
    ['5018000000000000111', '5018 0000 0000 0000 111'],
    ['9000000000000000111', '9000 0000 0000 0000 111'],
    ['4242 42x42<b>', '4242 4242'],
    ['４２４２４', '4242 4'],
    ['', ''],
  ])('formats %s as %s', (typed, formatted) => expect(formatCardNumber(typed)).toBe(formatted));

  it('returns the typed digits in order, and does not change its own output', () => {
    fc.assert(
      fc.property(fc.string(), digitStrings(0, 30), (noise, number) => {
        const formatted = formatCardNumber(number + noise.replace(/\p{N}/gu, ''));
        expect(number.startsWith(formatted.replaceAll(' ', ''))).toBe(true);
        expect(formatted.replaceAll(' ', '').length).toBeGreaterThanOrEqual(Math.min(number.length, 15));
        expect(formatCardNumber(formatted)).toBe(formatted);
        expect(formatted).toBe(formatted.trim());
      }),
    );
  });
});
