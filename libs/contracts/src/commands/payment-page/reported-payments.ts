import type { Mode } from '../../events/credentials.js';
import { commandType } from '../../events/envelope.js';

/** Maximum number of references in a request. */
export const MAX_REPORTED_PAYMENTS = 100;

/** Requests the copies of payments by their references. */
export interface ReportedPaymentsRequest {
  /** Service payment ids (C3), at most {@link MAX_REPORTED_PAYMENTS}. */
  readonly paymentReferences: readonly string[];
}

/** A successful payment on a page, as payment-processor once reported it. */
export interface ReportedPayment {
  readonly paymentReference: string;
  /**
   * UUID of the payment, from the page (C4).
   * @schema uuid
   */
  readonly reference: string;
  readonly mode: Mode;
  readonly merchantId: number;
  readonly siteId: number;
  /**
   * The session or invoice.
   * @schema uuid
   */
  readonly payableId: string;
  readonly payableVersion: number;
  /** Number of the payment among those of its session or invoice. */
  readonly paymentCount: number;
  /** Cents, of the session or invoice. */
  readonly invoicedAmount: number;
  readonly currencyISOCode: string;
  /** Cents, without the tip. */
  readonly amount: number;
  /** Cents. */
  readonly tipAmount: number;
  /** Masked (P9). */
  readonly paymentMethodLabel: string;
  /**
   * When the payment was accepted. ISO 8601 UTC.
   * @schema date-time
   */
  readonly paymentUTCDate: string;
}

/**
 * payment-processor → hosted-gateway, after a restore of payment-processor's database: the successful payments on pages
 * among these references. The bank has charged them, and the restored database does not contain them (docs/backup.md).
 */
export const ListReportedPaymentsV1 = commandType<
  ReportedPaymentsRequest,
  { readonly payments: readonly ReportedPayment[] }
>('list-reported-payments.v1');
