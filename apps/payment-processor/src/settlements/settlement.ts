import type { SettlementItem, SettlementMovementType, SettlementTotals } from '@svc/contracts';

/** Sum of movements of one type and currency. */
export interface MovementSum {
  readonly currency: string;
  readonly type: SettlementMovementType;
  readonly count: number;
  /** Cents: positive when the platform owes the amount to the merchant, negative when the merchant owes it. */
  readonly amount: number;
}

const ITEM_NAMES = {
  payment: 'payments',
  reversal: 'reversals',
  voucher: 'vouchers',
  externalPayment: 'externalPayments',
  refund: 'refunds',
  refundReturn: 'refundReturns',
  fee: 'fees',
  feeReversal: 'feeReversals',
  dispute: 'disputes',
  disputeReversal: 'disputeReversals',
} as const satisfies Record<SettlementMovementType, keyof SettlementTotals>;

/** The totals for each currency, sorted by its code. All movements of a type are credits, or all are debits. */
export function computeTotals(sums: readonly MovementSum[]): SettlementTotals[] {
  const currencies = [...new Set(sums.map(({ currency }) => currency))].sort();
  return currencies.map((currencyISOCode) => {
    const items = {
      payments: NONE,
      reversals: NONE,
      vouchers: NONE,
      externalPayments: NONE,
      refunds: NONE,
      refundReturns: NONE,
      fees: NONE,
      feeReversals: NONE,
      disputes: NONE,
      disputeReversals: NONE,
    };
    let net = 0;
    for (const { type, count, amount } of sums.filter(({ currency }) => currency === currencyISOCode)) {
      const item = items[ITEM_NAMES[type]];
      items[ITEM_NAMES[type]] = { count: item.count + count, amount: item.amount + Math.abs(amount) };
      net += amount;
    }
    return { currencyISOCode, ...items, net };
  });
}

const NONE: SettlementItem = { count: 0, amount: 0 };
