import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import {
  IsAmountInCents,
  isAmountInCents,
  IsLabel,
  IsLocale,
  isLocale,
  IsText,
  isText,
  MAX_AMOUNT_CENTS,
  toLabel,
} from './validation.js';

test.each([1, 12_345, MAX_AMOUNT_CENTS])('%j is an amount in cents (C1)', (value) => {
  expect(isAmountInCents(value)).toBe(true);
});

test.each([0, -1, -0, 1.5, NaN, Infinity, MAX_AMOUNT_CENTS + 1, '1', null, undefined, true, [1], 1n])(
  '%p is not an amount in cents (C1)',
  (value) => {
    expect(isAmountInCents(value)).toBe(false);
  },
);

test('text of 1 to the maximum number of characters is valid, and longer text is not (C6)', () => {
  expect(isText('x'.repeat(100), 100)).toBe(true);
  expect(isText('x'.repeat(101), 100)).toBe(false);
  expect(isText('é|ñ 💳', 100)).toBe(true);
});

test.each(['', ' ', '\t', 'a\u0000b', 'a\nb', 'a\u007fb', 'a\u0085b', '\ud83d', 7, null, undefined, ['x'], {}])(
  'isText(%j) is false',
  (value) => {
    expect(isText(value, 100)).toBe(false);
  },
);

test.each([
  ['a\u0000\tb\u0085c', 'a  b c'],
  ['\u00a0a\u2028\ufeff\r\n', ' a    '],
  ['é ñ 💳', 'é ñ 💳'],
  [
    ['a\tb', 7],
    ['a b', 7],
  ],
  [7, 7],
  [undefined, undefined],
  [null, null],
])('toLabel(%j) is %j: of the same length, with spaces instead of control characters', (value, expected) => {
  expect(toLabel<unknown>(value)).toEqual(expected);
});

class Labels {
  @IsLabel(3)
  name: unknown = 'a\tb';

  @IsLabel(3, { each: true })
  categories: unknown = ['a\nb', 'c'];

  @IsLabel(3)
  long: unknown = 'a\tbc';

  @IsLabel(3, { message: '$property is no name' })
  other: unknown = '\t';
}

test('IsLabel() replaces control characters when a body is converted, then it checks the text', () => {
  const labels = plainToInstance(Labels, { ...new Labels() });
  expect(labels).toEqual({ name: 'a b', categories: ['a b', 'c'], long: 'a bc', other: ' ' });
  expect(validateSync(labels).map(({ property, constraints }) => [property, constraints])).toEqual([
    ['long', { isText: 'long must be text of 1 to 3 characters' }],
    ['other', { isText: 'other is no name' }],
  ]);
});

test.each([
  ['zu-ZA', true],
  ['en', true],
  ['no_locale', false],
  ['', false],
  [undefined, false],
])('isLocale(%j) is %s', (value, expected) => {
  expect(isLocale(value)).toBe(expected);
});

class Request {
  @IsText(3)
  name: unknown = 'abcd';

  @IsText(3, { message: '$property is too long' })
  label: unknown = 'abcd';

  @IsAmountInCents()
  amount: unknown = 0;

  @IsAmountInCents({ message: '$property is no money' })
  tip: unknown = 0;

  @IsLocale()
  locale: unknown = 'x_';

  @IsLocale({ message: '$property is no language' })
  language: unknown = 'x_';
}

test('each validation decorator reports its rule name, with the given message or the default message', () => {
  const problems = validateSync(new Request()).map(({ property, constraints }) => [property, constraints]);
  expect(Object.fromEntries(problems)).toEqual({
    name: { isText: 'name must be text of 1 to 3 characters without control characters' },
    label: { isText: 'label is too long' },
    amount: { isAmountInCents: 'amount must be a whole number of cents from 1 to 100000000000' },
    locale: { isLocale: 'locale must be a BCP 47 language tag such as zu-ZA' },
    language: { isLocale: 'language is no language' },
    tip: { isAmountInCents: 'tip is no money' },
  });
});
