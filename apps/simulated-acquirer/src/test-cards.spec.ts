import { cardBehaviour } from './test-cards.js';

/** Numbers of 16 digits with this beginning. The bank does not check the last digit. */
const numbersOf = (range: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${range}${String(index * 7_919_993).padStart(12, '0')}`);

test('of the numbers of the range 4999, about 2 % are approved, and the others are declined for several reasons', () => {
  const expectedPercent = {
    approved: 2,
    stolen: 4,
    lost: 4,
    'incorrect-cvv': 10,
    expired: 10,
    'insufficient-funds': 15,
    declined: 55,
  };
  const behaviours = numbersOf('4999', 10_000).map((number) => cardBehaviour(number, '123'));
  expect([...new Set(behaviours)].sort()).toEqual(Object.keys(expectedPercent).sort());
  for (const [behaviour, expected] of Object.entries(expectedPercent)) {
    const percent = behaviours.filter((each) => each === behaviour).length / 100;
    expect(Math.abs(percent - expected)).toBeLessThan(2);
  }
});

test('a number of the range 4999 has the same behaviour at each charge, whatever its CVV', () => {
  for (const number of numbersOf('4999', 100)) expect(cardBehaviour(number, '987')).toBe(cardBehaviour(number));
});

test.each([
  ['numbers without a rule', '4242424242424242', 'approved'],
  ['numbers beside the range', '4997000000000003', 'approved'],
  ['longer numbers', '4999000000000000000', 'approved'],
  ['documented test numbers', '4000000000000002', 'declined'],
])('%s are not part of the list', (_, number, behaviour) => {
  expect(cardBehaviour(number, '987')).toBe(behaviour);
});
