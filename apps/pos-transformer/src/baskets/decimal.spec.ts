import fc from 'fast-check';
import { add, type Decimal, decimalFromNumber, multiply, roundHalfUp, subtract, ZERO } from './decimal.js';

const finiteNumber = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 });
const toNumber = ({ units, scale }: Decimal): number => Number(units) / 10 ** scale;

test.each([
  [0.1, 1n, 1],
  [-12.345, -12345n, 3],
  [0, 0n, 0],
  [1e21, 10n ** 21n, 0],
  [1.5e-7, 15n, 8],
  [100_000_000_000, 100_000_000_000n, 0],
])('%d is represented as %d / 10^%d', (number, units, scale) =>
  expect(decimalFromNumber(number)).toEqual({ units, scale }),
);

test.each([Number.NaN, Number.POSITIVE_INFINITY])('decimalFromNumber throws for %d', (number) =>
  expect(() => decimalFromNumber(number)).toThrow('is not a finite number'),
);

// T3, C1: amounts of weighed goods are rounded half away from zero, so that a return is exactly the negative of its
// sale.
test.each([
  [2.4, 2],
  [2.5, 3],
  [2.500001, 3],
  [2.499999, 2],
  [-2.4, -2],
  [-2.5, -3],
  [0.5, 1],
  [-0.5, -1],
  [0, 0],
])('%d is rounded to %d', (number, cents) => expect(roundHalfUp(decimalFromNumber(number))).toBe(cents));

test('the arithmetic uses no floats: 0.1 + 0.2 is 0.3, 0.1 + 0.25 is 0.35, and 1.005 × 100 is 100.5', () => {
  expect(add(decimalFromNumber(0.1), decimalFromNumber(0.2))).toEqual(decimalFromNumber(0.3));
  expect(add(decimalFromNumber(0.1), decimalFromNumber(0.25))).toEqual(decimalFromNumber(0.35));
  expect(roundHalfUp(multiply(decimalFromNumber(1.005), decimalFromNumber(100)))).toBe(101);
});

test('numbers, sums and products are exact', () => {
  fc.assert(
    fc.property(finiteNumber, (a) => {
      expect(toNumber(decimalFromNumber(a))).toBeCloseTo(a, 6);
    }),
  );
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: -1e6, max: 1e6 }), (a, b) => {
      expect(roundHalfUp(add(decimalFromNumber(a), decimalFromNumber(b)))).toBe(a + b);
      expect(roundHalfUp(subtract(decimalFromNumber(a), decimalFromNumber(b)))).toBe(a - b);
      expect(multiply(decimalFromNumber(a), decimalFromNumber(b)).units).toBe(BigInt(a) * BigInt(b));
    }),
  );
});

test('rounding changes a number by at most half a cent, and rounds -a to the negative of the rounded a', () => {
  fc.assert(
    fc.property(finiteNumber, (a) => {
      const cents = roundHalfUp(decimalFromNumber(a));
      expect(Math.abs(cents - a)).toBeLessThanOrEqual(0.5);
      expect(roundHalfUp(decimalFromNumber(-a)) + cents).toBe(0);
    }),
  );
});

test('a sum does not depend on the order of its numbers', () => {
  fc.assert(
    fc.property(fc.array(finiteNumber, { maxLength: 20 }), (numbers) => {
      const sum = (terms: readonly number[]): number => roundHalfUp(terms.map(decimalFromNumber).reduce(add, ZERO));
      expect(sum(numbers)).toBe(sum([...numbers].reverse()));
    }),
  );
});
