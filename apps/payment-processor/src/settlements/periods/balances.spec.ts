import { addSums } from './balances.js';

const zar = (amount: number) => ({ currencyISOCode: 'ZAR', amount });

test('sums are added by currency, in the order of the currencies', () => {
  const sums = [
    { currency: 'ZAR', amount: -300 },
    { currency: 'NAD', amount: 7 },
    { currency: 'ZAR', amount: 25 },
  ];
  expect(addSums([zar(1_000)], sums)).toEqual([{ currencyISOCode: 'NAD', amount: 7 }, zar(725)]);
  expect(addSums([], [])).toEqual([]);
  expect(addSums([zar(5)], [{ currency: 'ZAR', amount: -5 }])).toEqual([zar(0)]);
});
