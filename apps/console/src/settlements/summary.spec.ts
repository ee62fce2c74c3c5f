import type { SettlementAccount, SettlementTotals } from '@svc/contracts';
import fc from 'fast-check';
import { findTotals, groupTotals, summarise } from './summary.js';

const item = (amount: number) => ({ count: 1, amount });
const TOTALS: SettlementTotals = {
  currencyISOCode: 'ZAR',
  ...{ payments: item(100_000), reversals: item(2_000), vouchers: item(300), externalPayments: item(40_000) },
  ...{ refunds: item(5_000), refundReturns: item(600), fees: item(7_000), feeReversals: item(80) },
  ...{ disputes: item(9_000), disputeReversals: item(1_100) },
  net: 100_000 - 2_000 + 300 + 40_000 - 5_000 + 600 - 7_000 + 80 - 9_000 + 1_100,
};
const statement = (totals: SettlementTotals[]): SettlementAccount['statement'] => ({
  ...{ merchantId: 1001, mode: 'test', from: '2026-03-01', to: '2026-03-31', timeZone: 'Africa/Johannesburg' },
  ...{
    fromUTCDate: '2026-02-28T22:00:00.000Z',
    untilUTCDate: '2026-03-31T22:00:00.000Z',
    status: 'provisional',
    totals,
  },
});

test('each kind of movement is in one group, with the sign of its effect on the balance', () => {
  expect(groupTotals(TOTALS)).toEqual({
    ...{ sales: 138_300, refunds: -4_400, disputes: -7_900, fees: -6_920, net: 119_080 },
  });
  expect(groupTotals(undefined)).toEqual({ sales: 0, refunds: 0, disputes: 0, fees: 0, net: 0 });
});

test('the groups always add up to the net amount of the statement', () => {
  const kinds = [
    'payments',
    'vouchers',
    'externalPayments',
    'refundReturns',
    'feeReversals',
    'disputeReversals',
  ] as const;
  const debits = ['reversals', 'refunds', 'fees', 'disputes'] as const;
  fc.assert(
    fc.property(fc.array(fc.nat(1_000_000), { minLength: 10, maxLength: 10 }), (amounts) => {
      const names = [...kinds, ...debits];
      const items = Object.fromEntries(names.map((name, nth) => [name, item(amounts[nth]!)]));
      const net = names.reduce((sum, _, nth) => sum + (nth < kinds.length ? amounts[nth]! : -amounts[nth]!), 0);
      const { sales, refunds, disputes, fees, net: given } = groupTotals({ ...TOTALS, ...items, net });
      expect([sales + refunds + disputes + fees, given]).toEqual([net, net]);
    }),
  );
});

test('a period has a summary of each currency that it uses, and of Rand if it uses none', () => {
  const zar = (amount: number) => ({ currencyISOCode: 'ZAR', amount });
  const nad = { currencyISOCode: 'NAD', amount: 5 };
  const account = {
    statement: statement([TOTALS]),
    opening: [nad],
    closing: [nad, zar(119_080)],
    onTheWay: [zar(70)],
    days: [],
  };
  const nothing = { sales: 0, refunds: 0, disputes: 0, fees: 0, net: 0, onTheWay: 0, totals: undefined };
  expect(summarise(account)).toEqual([
    { currency: 'NAD', opening: 5, closing: 5, ...nothing },
    { currency: 'ZAR', opening: 0, closing: 119_080, onTheWay: 70, totals: TOTALS, ...groupTotals(TOTALS) },
  ]);
  expect(summarise({ statement: statement([]), opening: [], closing: [], onTheWay: [], days: [] })).toEqual([
    { currency: 'ZAR', opening: 0, closing: 0, ...nothing },
  ]);
  expect(findTotals([TOTALS], 'NAD')).toBeUndefined();
});
