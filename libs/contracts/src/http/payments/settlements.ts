import type { Mode } from '../../events/credentials.js';

/** Movements of one type on a day. */
export interface SettlementItem {
  /** How many. */
  count: number;
  /** Cents, never negative. */
  amount: number;
}

/** What one day's trade in a currency comes to: net = payments + vouchers + externalPayments − refunds − fees. */
export interface SettlementTotals {
  /** ISO 4217. */
  currencyISOCode: string;
  /** What the acquirer charged payers: `processedAmount` of each payment. */
  payments: SettlementItem;
  /** Vouchers that the service is liable for. One that the merchant is liable for is not owed to it. */
  vouchers: SettlementItem;
  /** Payments made elsewhere, whose money the partner has (P6). */
  externalPayments: SettlementItem;
  /** Refunds that succeeded (M5). */
  refunds: SettlementItem;
  /** The service's fees; a refund does not give them back (M5). */
  fees: SettlementItem;
  /** Cents; negative where more was given back than taken in: the merchant owes it. */
  net: number;
}

/**
 * What a merchant is owed for a day: `GET /business/api/v1/merchants/{m}/settlements/{day}`. As `text/csv` the same
 * movements one by one; the sum of their amounts is `net`.
 */
export interface SettlementStatement {
  merchantId: number;
  /** Only of this site: the statement was asked for with the site's key. */
  siteId?: number;
  mode: Mode;
  /** UTC, `YYYY-MM-DD`. */
  day: string;
  /** True: the day's books are closed, and the statement does not change any more. */
  closed: boolean;
  /** Seal of the ledger at the end of the day, hex SHA-256; only of a closed day. Whoever keeps it can prove a later change. */
  ledgerRoot?: string;
  /** One for each currency, by its code; none without trade. */
  totals: SettlementTotals[];
}
