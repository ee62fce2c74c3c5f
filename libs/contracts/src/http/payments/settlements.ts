import type { Mode } from '../../events/credentials.js';

/** Total of the movements of one type on a day. */
export interface SettlementItem {
  /** Number of movements. */
  count: number;
  /** Cents, never negative. */
  amount: number;
}

/** Totals of a day in one currency: net = payments + vouchers + externalPayments − refunds − fees. */
export interface SettlementTotals {
  /** ISO 4217. */
  currencyISOCode: string;
  /** Charges by the acquirer: `processedAmount` of each payment. */
  payments: SettlementItem;
  /** Vouchers that the platform is liable for. Vouchers that the merchant is liable for are not included. */
  vouchers: SettlementItem;
  /** External payments, whose money the partner has (P6). */
  externalPayments: SettlementItem;
  /** Refunds that succeeded (M5). */
  refunds: SettlementItem;
  /** Fees of the platform; a refund does not return them (M5). */
  fees: SettlementItem;
  /**
   * Cents. Negative if refunds and fees exceed the payments: the merchant then owes this amount.
   * @schema integer
   */
  net: number;
}

/**
 * A merchant's settlement statement of a day: `GET /business/api/v1/merchants/{m}/settlements/{day}`. With `text/csv`
 * the response lists each movement; the sum of their amounts is `net`.
 */
export interface SettlementStatement {
  merchantId: number;
  /** Present if the request used a site's key: the statement is for this site only. */
  siteId?: number;
  mode: Mode;
  /** UTC, `YYYY-MM-DD`. */
  day: string;
  /** True if the ledger of the day is closed, so that the statement never changes. */
  closed: boolean;
  /**
   * Seal of the ledger at the end of the day, hex SHA-256; only for a closed day. Store it to detect a later change of
   * the ledger.
   */
  ledgerRoot?: string;
  /** One entry for each currency, ordered by currency code; empty if the day has no movements. */
  totals: SettlementTotals[];
}
