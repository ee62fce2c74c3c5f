import { cardBrand, cardMask } from './card.js';

test('a card mask shows only the last four digits (P9)', () => {
  expect(cardMask({ cardNumber: '4242424242424242' })).toBe('**** 4242');
  expect(cardMask({ cardNumber: '378282246310005' })).toBe('**** 0005');
});

const cardNumberWithPrefix = (prefix: string): string => prefix.padEnd(16, '0');

test.each([
  ['4', 'visa'],
  ['50', 'unknown'],
  ['51', 'mastercard'],
  ['55', 'mastercard'],
  ['56', 'unknown'],
  ['2220', 'unknown'],
  ['2221', 'mastercard'],
  ['2229', 'mastercard'],
  ['2230', 'mastercard'],
  ['2299', 'mastercard'],
  ['23', 'mastercard'],
  ['26', 'mastercard'],
  ['2700', 'mastercard'],
  ['2719', 'mastercard'],
  ['2720', 'mastercard'],
  ['2721', 'unknown'],
  ['33', 'unknown'],
  ['34', 'amex'],
  ['35', 'unknown'],
  ['37', 'amex'],
  ['300', 'diners'],
  ['305', 'diners'],
  ['306', 'unknown'],
  ['36', 'diners'],
  ['38', 'diners'],
  ['39', 'diners'],
  ['6010', 'unknown'],
  ['6011', 'discover'],
  ['643', 'unknown'],
  ['644', 'discover'],
  ['649', 'discover'],
  ['65', 'discover'],
  ['66', 'unknown'],
  ['1', 'unknown'],
  ['14', 'unknown'],
  ['151', 'unknown'],
  ['12221', 'unknown'],
  ['134', 'unknown'],
  ['136', 'unknown'],
  ['165', 'unknown'],
])('a card number with the prefix %s has the brand %s', (prefix, brand) => {
  expect(cardBrand({ cardNumber: cardNumberWithPrefix(prefix) })).toBe(brand);
});
