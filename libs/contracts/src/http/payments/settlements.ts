import type { Mode } from '../../events/credentials.js';

/** Total of the movements of one type. */
export interface SettlementItem {
  /** Number of movements. */
  count: number;
  /** Cents, never negative. */
  amount: number;
}

/**
 * Totals in one currency: net = payments − reversals + vouchers + externalPayments − refunds + refundReturns −
 * fees + feeReversals − disputes + disputeReversals.
 */
export interface SettlementTotals {
  /** ISO 4217. */
  currencyISOCode: string;
  /** Charges by the acquirer: `processedAmount` of each payment. */
  payments: SettlementItem;
  /** Payments whose money the acquirer could not take after it had approved them. */
  reversals: SettlementItem;
  /** Vouchers that the platform is liable for. Vouchers that the merchant is liable for are not included. */
  vouchers: SettlementItem;
  /** External payments, whose money the partner has (P6). */
  externalPayments: SettlementItem;
  /** Refunds that succeeded (M5). */
  refunds: SettlementItem;
  /** Refunds whose money came back after they had succeeded (M5). */
  refundReturns: SettlementItem;
  /** Fees of the platform; a refund does not return them (M5). */
  fees: SettlementItem;
  /** Fees of the payments in `reversals`. */
  feeReversals: SettlementItem;
  /** Amounts that the acquirer deducted because of disputes, in first or second chargebacks (M8). */
  disputes: SettlementItem;
  /** Amounts of disputes that the acquirer returned (M8). */
  disputeReversals: SettlementItem;
  /**
   * Cents. Negative if refunds, fees and disputes exceed the payments: the merchant then owes this amount.
   * @schema integer
   */
  net: number;
}

/** A seal of the ledger. Store it to detect a later change of the ledger. */
export interface SettlementSeal {
  /** 0 if the ledger was empty. */
  number: number;
  /** Hex SHA-256. */
  hash: string;
}

/**
 * A merchant's settlement statement: `GET /business/api/v1/merchants/{m}/settlements?from=…&to=…`, or `…/{day}` for one
 * day. With `text/csv` the response lists each movement; the sum of their amounts is `net`.
 */
export interface SettlementStatement {
  merchantId: number;
  /** Present if the request used a site's key or named a site: the statement is for this site only. */
  siteId?: number;
  mode: Mode;
  /** First day in the merchant's time zone, `YYYY-MM-DD`. */
  from: string;
  /** Last day in the merchant's time zone. */
  to: string;
  /** IANA name of the merchant's time zone on the last day. */
  timeZone: string;
  /** ISO 8601 UTC: the beginning of the first day. */
  fromUTCDate: string;
  /** ISO 8601 UTC: the end of the last day. Movements at this time belong to the next day. */
  untilUTCDate: string;
  /** `final` if the ledger is sealed up to the end of the last day, so that the statement never changes. */
  status: 'provisional' | 'final';
  /** The seal that covers the end of the last day. Only if the statement is final. */
  seal?: SettlementSeal;
  /** One entry for each currency, ordered by currency code; empty if there are no movements. */
  totals: SettlementTotals[];
}
