import { PUBLISHED_REFUSAL_REASONS } from '../../../test/adyen/adyen-documents.js';
import { declineCodeOf, findRefusalReason, REFUSAL_REASONS } from './refusal-reasons.js';

test('the table has exactly the codes and texts that Adyen publishes', () => {
  const texts = Object.entries(REFUSAL_REASONS).map(([code, { text }]) => [code, text]);
  expect(Object.fromEntries(texts)).toEqual(PUBLISHED_REFUSAL_REASONS);
  expect(texts.length).toBeGreaterThan(40);
});

test.each(Object.entries(REFUSAL_REASONS))('code %s is found by its code and by its text', (code, reason) => {
  expect(findRefusalReason({ code })).toBe(reason);
  expect(findRefusalReason({ text: ` ${reason.text.toUpperCase()} ` })).toBe(reason);
});

test.each(['0', '13', '999', 'constructor', '', 2, undefined])('the unlisted code %p has no reason', (code) => {
  expect(findRefusalReason({ code })).toBeUndefined();
  expect(declineCodeOf({ code })).toBe('card.declined');
});

test('an unlisted code with a listed text has the reason of the text', () =>
  expect(declineCodeOf({ code: '99', text: 'Expired Card' })).toBe('card.expired'));

test('a fraud, an invalid card and an expired card are final', () => {
  const finalCodes = Object.entries(REFUSAL_REASONS).flatMap(([code, { isFinal }]) => (isFinal ? [Number(code)] : []));
  expect(finalCodes).toEqual([5, 6, 8, 10, 14, 18, 20, 22, 23, 25, 26, 31, 34, 35, 46, 50]);
});

test('each code has the decline code that a payer can act on', () => {
  const codesOf = (declineCode: string): number[] =>
    Object.entries(REFUSAL_REASONS).flatMap(([code, reason]) =>
      reason.declineCode === declineCode ? [Number(code)] : [],
    );
  expect(codesOf('card.expired')).toEqual([6]);
  expect(codesOf('card.invalid')).toEqual([8]);
  expect(codesOf('card.insufficient-funds')).toEqual([12]);
  expect(codesOf('card.incorrect-cvv')).toEqual([24]);
  expect(codesOf('card.limit-exceeded')).toEqual([28, 29]);
  expect(codesOf('card.suspected-fraud')).toEqual([14, 20, 22, 31]);
  expect(codesOf('verification.failed')).toEqual([11, 16, 38, 39, 42]);
  expect(codesOf('card.declined')).toEqual([
    ...[2, 3, 4, 5, 7, 9, 10, 15, 17, 18, 19, 21, 23, 25, 26, 27, 32, 33, 34, 35, 36, 37, 40, 41, 46, 50],
  ]);
});
