import type { SettlementItem, SettlementTotals } from '@svc/contracts';

/** Type of a movement on a settlement statement. */
export type MovementType = 'payment' | 'voucher' | 'externalPayment' | 'refund' | 'fee';

/** Sum of a day's movements of one type and currency. */
export interface MovementSum {
  readonly currency: string;
  readonly type: MovementType;
  readonly count: number;
  /** Cents: positive when the platform owes the amount to the merchant, negative when the merchant owes it. */
  readonly amount: number;
}

const ITEM_NAMES = {
  payment: 'payments',
  voucher: 'vouchers',
  externalPayment: 'externalPayments',
  refund: 'refunds',
  fee: 'fees',
} as const satisfies Record<MovementType, keyof SettlementTotals>;

/** The totals for each currency, sorted by its code. `sums` must contain at most one sum for each type and currency. */
export function computeTotals(sums: readonly MovementSum[]): SettlementTotals[] {
  const currencies = [...new Set(sums.map(({ currency }) => currency))].sort();
  return currencies.map((currencyISOCode) => {
    const items = { payments: NONE, vouchers: NONE, externalPayments: NONE, refunds: NONE, fees: NONE };
    let net = 0;
    for (const { type, count, amount } of sums.filter(({ currency }) => currency === currencyISOCode)) {
      items[ITEM_NAMES[type]] = { count, amount: Math.abs(amount) };
      net += amount;
    }
    return { currencyISOCode, ...items, net };
  });
}

const NONE: SettlementItem = { count: 0, amount: 0 };
