import fc from 'fast-check';
import { computeTotals, type MovementSum } from './settlement.js';
import { parseSettlementDay } from './settlement-day.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const NONE = { count: 0, amount: 0 };

describe('totals', () => {
  test('are sorted by currency, with positive amounts and a signed net', () => {
    const sums: MovementSum[] = [
      { currency: 'ZAR', type: 'payment', count: 2, amount: 1_000 },
      { currency: 'ZAR', type: 'refund', count: 1, amount: -1_400 },
      { currency: 'ZAR', type: 'fee', count: 2, amount: -25 },
      { currency: 'BWP', type: 'voucher', count: 1, amount: 30 },
      { currency: 'BWP', type: 'externalPayment', count: 1, amount: 5 },
    ];
    const noItems = { payments: NONE, vouchers: NONE, externalPayments: NONE, refunds: NONE, fees: NONE };
    expect(computeTotals(sums)).toEqual([
      {
        ...{ ...noItems, currencyISOCode: 'BWP', net: 35 },
        ...{ vouchers: { count: 1, amount: 30 }, externalPayments: { count: 1, amount: 5 } },
      },
      {
        ...{ ...noItems, currencyISOCode: 'ZAR', net: -425 },
        ...{
          payments: { count: 2, amount: 1_000 },
          refunds: { count: 1, amount: 1_400 },
          fees: { count: 2, amount: 25 },
        },
      },
    ]);
    expect(computeTotals([])).toEqual([]);
  });

  const sumArbitrary = fc.record({
    currency: fc.constantFrom('ZAR', 'BWP', 'NAD'),
    type: fc.constantFrom('payment', 'voucher', 'externalPayment', 'refund', 'fee'),
    count: fc.nat(1_000),
    amount: fc.nat(100_000_000_000),
  });
  test('have a net amount of credits minus debits, for any sums of a day', () => {
    const day = fc.uniqueArray(sumArbitrary, { selector: ({ currency, type }) => `${currency} ${type}` });
    fc.assert(
      fc.property(day, (sums) => {
        const signedSums = sums.map((sum) => {
          const isDebit = sum.type === 'refund' || sum.type === 'fee';
          return { ...sum, amount: isDebit ? -sum.amount : sum.amount };
        });
        const totals = computeTotals(signedSums);
        expect(totals.map(({ currencyISOCode }) => currencyISOCode)).toEqual(
          [...new Set(sums.map(({ currency }) => currency))].sort(),
        );
        for (const { payments, vouchers, externalPayments, refunds, fees, net } of totals)
          expect(net).toBe(payments.amount + vouchers.amount + externalPayments.amount - refunds.amount - fees.amount);
        const net = totals.reduce((total, item) => total + item.net, 0);
        expect(net).toBe(signedSums.reduce((total, { amount }) => total + amount, 0));
      }),
    );
  });
});

describe('a day', () => {
  test('has 24 hours in UTC, and can be the current day', () => {
    const [from, until] = [new Date('2026-03-01T00:00:00.000Z'), new Date('2026-03-02T00:00:00.000Z')];
    expect(parseSettlementDay('2026-03-01', NOW)).toEqual({ day: '2026-03-01', from, until });
    expect(parseSettlementDay('2024-02-29', NOW)).toMatchObject({ from: new Date('2024-02-29T00:00:00.000Z') });
  });

  test.each([
    '2026-02-29',
    '2026-13-01',
    '2026-3-1',
    '20260301',
    '2026-03-01T00:00:00Z',
    ' 2026-03-01',
    '',
    undefined,
    20260301,
  ])('cannot be %p', (text) =>
    expect(() => parseSettlementDay(text, NOW)).toThrow(expect.objectContaining({ code: 'request.invalid' })),
  );

  test('must not be in the future', () => {
    expect(parseSettlementDay('2026-03-02', new Date('2026-03-02T00:00:00.000Z')).day).toBe('2026-03-02');
    expect(() => parseSettlementDay('2026-03-02', new Date('2026-03-01T23:59:59.999Z'))).toThrow(
      expect.objectContaining({ fields: [{ field: 'day', message: expect.stringContaining('has begun') }] }),
    );
  });
});
