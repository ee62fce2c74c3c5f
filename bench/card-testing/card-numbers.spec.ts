import { isCardNumberValid } from '@svc/sdk/card';
import { CardNumbers } from './card-numbers.ts';

test('all numbers of a run are valid and different', () => {
  const numbers = new CardNumbers(7);
  const cards = Array.from({ length: 500 }, () => [
    numbers.newApproved(),
    numbers.newDeclined(),
    numbers.newWithCheckedCvv(),
  ]).flat();
  const all = [
    ...cards.map(({ cardNumber }) => cardNumber),
    ...numbers.newList(2_500),
    ...numbers.newList(2_500),
    ...numbers.newListOfOneRange(1_000),
    ...new CardNumbers(8).newList(100),
  ];
  expect(all.filter((number) => !isCardNumberValid(number))).toEqual([]);
  expect(new Set(all).size).toBe(all.length);
});

test('a list has many ranges of eight digits, and a list of one range has one', () => {
  const numbers = new CardNumbers(1);
  const countRanges = (list: string[]): number => new Set(list.map((number) => number.slice(0, 8))).size;
  expect([countRanges(numbers.newList(2_500)), countRanges(numbers.newListOfOneRange(1_000))]).toEqual([1_000, 1]);
});
