import type { SettlementAccount, SettlementAmount, SettlementTotals } from '@svc/contracts';
import { CURRENCY } from '../languages/format.js';

/**
 * How movements change the balance, in cents: positive if they increase what is owed to the merchant. `sales`, `refunds`,
 * `disputes` and `fees` add up to `net`.
 */
export interface Changes {
  readonly sales: number;
  readonly refunds: number;
  readonly disputes: number;
  readonly fees: number;
  readonly net: number;
}

/** The account of a period in one currency, in cents. */
export interface Summary extends Changes {
  readonly currency: string;
  readonly opening: number;
  readonly closing: number;
  readonly onTheWay: number;
  /** Undefined without movements. */
  readonly totals: SettlementTotals | undefined;
}

/** Groups the totals of a statement, each with the returns of its kind. */
export function groupTotals(totals: SettlementTotals | undefined): Changes {
  if (!totals) return { sales: 0, refunds: 0, disputes: 0, fees: 0, net: 0 };
  const { payments, vouchers, externalPayments, reversals, refunds, refundReturns } = totals;
  const { fees, feeReversals, disputes, disputeReversals, net } = totals;
  return {
    sales: payments.amount + vouchers.amount + externalPayments.amount - reversals.amount,
    refunds: refundReturns.amount - refunds.amount,
    disputes: disputeReversals.amount - disputes.amount,
    fees: feeReversals.amount - fees.amount,
    net,
  };
}

export function findTotals(list: readonly SettlementTotals[], currency: string): SettlementTotals | undefined {
  return list.find(({ currencyISOCode }) => currencyISOCode === currency);
}

/** One summary for each currency of the period. */
export function summarise({ statement, opening, closing, onTheWay }: SettlementAccount): Summary[] {
  const used = [...opening, ...closing, ...statement.totals].map(({ currencyISOCode }) => currencyISOCode);
  const currencies = used.length === 0 ? [CURRENCY] : [...new Set(used)].sort();
  return currencies.map((currency) => {
    const amountOf = (amounts: readonly SettlementAmount[]): number =>
      amounts.find(({ currencyISOCode }) => currencyISOCode === currency)?.amount ?? 0;
    const totals = findTotals(statement.totals, currency);
    return {
      currency,
      ...{ opening: amountOf(opening), closing: amountOf(closing), onTheWay: amountOf(onTheWay) },
      totals,
      ...groupTotals(totals),
    };
  });
}
