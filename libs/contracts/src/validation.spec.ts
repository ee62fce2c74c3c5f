import { isAmountInCents, isText, MAX_AMOUNT_CENTS } from './validation.js';

test.each([1, 12_345, MAX_AMOUNT_CENTS])('%j is an amount in cents (C1)', (value) => {
  expect(isAmountInCents(value)).toBe(true);
});

test.each([0, -1, -0, 1.5, NaN, Infinity, MAX_AMOUNT_CENTS + 1, '1', null, undefined, true, [1], 1n])(
  '%p is none: nothing is coerced (C1)',
  (value) => {
    expect(isAmountInCents(value)).toBe(false);
  },
);

test('text has 1 to so many characters, and is never cut (C6)', () => {
  expect(isText('x'.repeat(100), 100)).toBe(true);
  expect(isText('x'.repeat(101), 100)).toBe(false);
  expect(isText('é|ñ 💳', 100)).toBe(true);
});

test.each(['', ' ', '\t', 'a\u0000b', 'a\nb', 'a\u007fb', 'a\u0085b', '\ud83d', 7, null, undefined, ['x'], {}])(
  '%j is no text',
  (value) => {
    expect(isText(value, 100)).toBe(false);
  },
);
