import { MAX_AMOUNT_CENTS } from '@svc/contracts';
import { checkAmounts, MAX_CHOSEN_CENTS, parseAmount, readAmounts } from './chosen-amounts.js';

test('the page has the same maximum amount as the API', () => {
  expect(MAX_CHOSEN_CENTS).toBe(MAX_AMOUNT_CENTS);
});

test.each([
  ['89.50', 8_950],
  ['89,50', 8_950],
  ['89.5', 8_950],
  ['89', 8_900],
  ['0.05', 5],
  [' R 1 234.00 ', 123_400],
  ['r12', 1_200],
  ['ZAR 12,30', 1_230],
  ['１２.３４', 1_234],
  ['1234567890.12', 123_456_789_012],
  ['', undefined],
  ['R', undefined],
  ['.5', undefined],
  ['5.', undefined],
  ['1.234', undefined],
  ['1,234.50', undefined],
  ['-5', undefined],
  ['12345678901', undefined],
  ['1e3', undefined],
  ['abc', undefined],
  ['1R2', undefined],
])('the text %j is parsed as %p cents', (text, cents) => {
  expect(parseAmount(text)).toBe(cents);
});

const LIMITS = { invoiceAmount: 8_950, amountMin: 100, amountMax: 89_500, tipMax: 8_950 };

test.each([
  [{ amount: '89.50', tip: '' }, {}],
  [{ amount: '1', tip: '0' }, {}],
  [{ amount: '1', tip: ' ' }, {}],
  [{ amount: '0.99', tip: '' }, { amount: 'tooLittle' }],
  [{ amount: 'x', tip: 'x' }, { amount: 'notAnAmount' }],
  [{ amount: '', tip: '' }, { amount: 'notAnAmount' }],
  [{ amount: '895', tip: '' }, {}],
  [{ amount: '895.01', tip: '' }, { amount: 'tooMuch' }],
  [{ amount: '895', tip: '89.50' }, {}],
  [{ amount: '1', tip: '89.51' }, { tip: 'tooMuch' }],
  [{ amount: undefined, tip: '10,50' }, {}],
  [{ amount: undefined, tip: 'ten' }, { tip: 'notAnAmount' }],
  [{ amount: undefined, tip: '89.51' }, { tip: 'tooMuch' }],
  [{ amount: undefined, tip: '89.50' }, {}],
  [{ amount: undefined, tip: undefined }, {}],
] as const)('the input %j has the errors %j', (texts, problems) => {
  expect(checkAmounts(texts, LIMITS)).toStrictEqual(problems);
});

test.each([
  [
    { amount: '80', tip: '8' },
    { amount: 8_000, tipAmount: 800 },
  ],
  [
    { amount: undefined, tip: ' ' },
    { amount: 8_950, tipAmount: 0 },
  ],
  [
    { amount: '100', tip: undefined },
    { amount: 10_000, tipAmount: 0 },
  ],
] as const)('the input %j is converted to %j cents', (texts, amounts) => {
  expect(readAmounts(texts, LIMITS)).toEqual(amounts);
});

test('amount and tip together must not be above the limit of a charge', () => {
  const limits = {
    invoiceAmount: MAX_AMOUNT_CENTS,
    amountMin: 1,
    amountMax: MAX_AMOUNT_CENTS,
    tipMax: MAX_AMOUNT_CENTS,
  };
  expect(checkAmounts({ amount: '1000000000', tip: '' }, limits)).toStrictEqual({});
  expect(checkAmounts({ amount: '1000000000', tip: '0.01' }, limits)).toStrictEqual({ tip: 'tooMuch' });
  expect(checkAmounts({ amount: undefined, tip: '0.01' }, limits)).toStrictEqual({ tip: 'tooMuch' });
});
