import type { Mode } from '../events/credentials.js';
import { commandType } from '../events/envelope.js';
import type { SettlementStatement, SettlementTotals } from '../http/payments/settlements.js';

/*
 * The commands below go from the console to payment-processor, which alone has the ledger. They change nothing. The console
 * has checked the role of the person; payment-processor checks that the site is a site of the merchant.
 */

/** A month or a day of a merchant, in one mode. */
export interface SettlementPeriod {
  merchantId: number;
  /** Absent: all sites of the merchant. */
  siteId?: number;
  mode: Mode;
  /** A month of the merchant's own days (M7), `2026-11`, or one day, `2026-11-20`. It must have begun. */
  period: string;
}

/** An amount that is owed to the merchant. */
export interface SettlementAmount {
  /** ISO 4217. */
  currencyISOCode: string;
  /**
   * Cents. Negative if the merchant owes it.
   * @schema integer
   */
  amount: number;
}

/** One day of a period. */
export interface SettlementDay {
  /** `YYYY-MM-DD` */
  day: string;
  /** As in {@link SettlementStatement}. */
  status: 'provisional' | 'final';
  /** One entry for each currency; empty if the day has no movements. */
  totals: SettlementTotals[];
}

/** The merchant's account with the platform in a period. Lists of amounts have one entry for each currency, sorted by it. */
export interface SettlementAccount {
  /** The statement of the period. That of the present month ends with today. */
  statement: SettlementStatement;
  /** All movements before the period. */
  opening: SettlementAmount[];
  /** `opening`, and `net` of the statement. */
  closing: SettlementAmount[];
  /**
   * The part of the period that is on the way: movements of at most 14 days ago at acquirers with settlement reports, that
   * no report contains yet.
   */
  onTheWay: SettlementAmount[];
  /** The days of the period that have begun, oldest first. */
  days: SettlementDay[];
}

/**
 * Reads the account of a merchant in a period. Refused with `request.invalid` for a period that has not begun, with
 * `resource.not-found` for a site of another merchant, and with `service.not-ready` while too many other statements are
 * read, or while the balance of a long past is being computed: a repeat continues.
 */
export const ReadSettlementV1 = commandType<SettlementPeriod, SettlementAccount>('read-settlement.v1');

/** Type of a movement on a settlement statement. */
export type SettlementMovementType =
  | 'payment'
  | 'reversal'
  | 'voucher'
  | 'externalPayment'
  | 'refund'
  | 'refundReturn'
  | 'fee'
  | 'feeReversal'
  | 'dispute'
  | 'disputeReversal';

/** One movement on the merchant's balance. */
export interface SettlementMovement extends SettlementAmount {
  /** ISO 8601 UTC. */
  createdUTCDate: string;
  type: SettlementMovementType;
  /** The payment reference (C3). */
  svcId: string;
  /** UUID of the refund; empty for other movements. */
  refundReference: string;
  /** UUID of the dispute; empty for other movements. */
  disputeReference: string;
  siteId: number;
  /** The merchant's own reference: merchantOrderId, or the invoice's external reference; empty if there is none. */
  externalReference: string;
}

/** A page of a period. */
export interface SettlementPageRequest extends SettlementPeriod {
  /** `next` of the page before. */
  after?: string;
}

export interface SettlementMovementPage {
  /** At most 100, oldest first. */
  movements: SettlementMovement[];
  /** Absent on the last page. */
  next?: string;
}

/** Lists the movements of a period. Refused as {@link ReadSettlementV1}. */
export const ListSettlementMovementsV1 = commandType<SettlementPageRequest, SettlementMovementPage>(
  'list-settlement-movements.v1',
);

export interface SettlementExport {
  /** Contains `provisional` unless the period is final. */
  fileName: string;
  /** The next lines of the file, at most 1 000, each with its end. The first page begins with the header. */
  lines: string;
  /** Absent on the last page. */
  next?: string;
}

/**
 * Exports the movements of a period as CSV, in the same format as the merchant's API. The pages together contain the
 * movements that were committed at the first page. Refused as {@link ReadSettlementV1}.
 */
export const ExportSettlementV1 = commandType<SettlementPageRequest, SettlementExport>('export-settlement.v1');
