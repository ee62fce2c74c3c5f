import fc from 'fast-check';
import { computeTotals, type MovementSum } from './settlement.js';

const NONE = { count: 0, amount: 0 };

describe('totals', () => {
  test('add the sums of the same type and currency', () => {
    const sums: MovementSum[] = [
      { currency: 'ZAR', type: 'refund', count: 1, amount: -1_400 },
      { currency: 'ZAR', type: 'payment', count: 2, amount: 1_000 },
      { currency: 'ZAR', type: 'refund', count: 3, amount: -70 },
      { currency: 'ZAR', type: 'payment', count: 4, amount: 30 },
    ];
    expect(computeTotals(sums)).toMatchObject([
      { payments: { count: 6, amount: 1_030 }, refunds: { count: 4, amount: 1_470 }, net: -440 },
    ]);
  });

  test('are sorted by currency, with positive amounts and a signed net', () => {
    const sums: MovementSum[] = [
      { currency: 'ZAR', type: 'payment', count: 2, amount: 1_000 },
      { currency: 'ZAR', type: 'refund', count: 1, amount: -1_400 },
      { currency: 'ZAR', type: 'fee', count: 2, amount: -25 },
      { currency: 'ZAR', type: 'dispute', count: 3, amount: -700 },
      { currency: 'ZAR', type: 'disputeReversal', count: 1, amount: 300 },
      { currency: 'ZAR', type: 'reversal', count: 1, amount: -90 },
      { currency: 'ZAR', type: 'feeReversal', count: 1, amount: 9 },
      { currency: 'ZAR', type: 'refundReturn', count: 2, amount: 80 },
      { currency: 'BWP', type: 'voucher', count: 1, amount: 30 },
      { currency: 'BWP', type: 'externalPayment', count: 1, amount: 5 },
    ];
    const noItems = {
      ...{ payments: NONE, vouchers: NONE, externalPayments: NONE, refunds: NONE, fees: NONE },
      ...{ reversals: NONE, refundReturns: NONE, feeReversals: NONE },
      ...{ disputes: NONE, disputeReversals: NONE },
    };
    expect(computeTotals(sums)).toEqual([
      {
        ...{ ...noItems, currencyISOCode: 'BWP', net: 35 },
        ...{ vouchers: { count: 1, amount: 30 }, externalPayments: { count: 1, amount: 5 } },
      },
      {
        ...{ ...noItems, currencyISOCode: 'ZAR', net: -826 },
        ...{
          payments: { count: 2, amount: 1_000 },
          refunds: { count: 1, amount: 1_400 },
          fees: { count: 2, amount: 25 },
          disputes: { count: 3, amount: 700 },
          disputeReversals: { count: 1, amount: 300 },
          reversals: { count: 1, amount: 90 },
          feeReversals: { count: 1, amount: 9 },
          refundReturns: { count: 2, amount: 80 },
        },
      },
    ]);
    expect(computeTotals([])).toEqual([]);
  });

  const sumArbitrary = fc.record({
    currency: fc.constantFrom('ZAR', 'BWP', 'NAD'),
    type: fc.constantFrom<MovementSum['type']>(
      ...([
        'payment',
        'reversal',
        'voucher',
        'externalPayment',
        'refund',
        'refundReturn',
        'fee',
        'feeReversal',
      ] as const),
      ...(['dispute', 'disputeReversal'] as const),
    ),
    count: fc.nat(1_000),
    amount: fc.nat(100_000_000_000),
  });
  test('have a net amount of credits minus debits, for any sums of a day', () => {
    const day = fc.uniqueArray(sumArbitrary, { selector: ({ currency, type }) => `${currency} ${type}` });
    fc.assert(
      fc.property(day, (sums) => {
        const signedSums = sums.map((sum) => {
          const isDebit = ['reversal', 'refund', 'fee', 'dispute'].includes(sum.type);
          return { ...sum, amount: isDebit ? -sum.amount : sum.amount };
        });
        const totals = computeTotals(signedSums);
        expect(totals.map(({ currencyISOCode }) => currencyISOCode)).toEqual(
          [...new Set(sums.map(({ currency }) => currency))].sort(),
        );
        for (const {
          payments,
          vouchers,
          externalPayments,
          refunds,
          fees,
          disputes,
          disputeReversals,
          net,
          ...other
        } of totals) {
          const credits = payments.amount + vouchers.amount + externalPayments.amount + disputeReversals.amount;
          const returned = other.refundReturns.amount + other.feeReversals.amount;
          expect(net).toBe(
            credits + returned - other.reversals.amount - refunds.amount - fees.amount - disputes.amount,
          );
        }
        const net = totals.reduce((total, item) => total + item.net, 0);
        expect(net).toBe(signedSums.reduce((total, { amount }) => total + amount, 0));
      }),
    );
  });
});
