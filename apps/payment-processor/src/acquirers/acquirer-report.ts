import type { Mode } from '@svc/contracts';
import type { DeclineCode } from './acquirer.js';
import type { DisputeReport } from './dispute-report.js';

/** Fields of every message that an acquirer sends by itself (a webhook). The message is authenticated and stored. */
interface ReportFields {
  /** Name of the acquirer. */
  readonly acquirer: string;
  /** Mode of the endpoint that received the report. */
  readonly mode: Mode;
  /** The merchant's account at the acquirer, as the report names it. */
  readonly accountReference: string;
  /** The acquirer's reference of what it reports: of the charge, capture, cancellation or refund. */
  readonly acquirerReference: string;
}

/** The payment that a report is about. */
interface PaymentFields extends ReportFields {
  /** C3. Sent as the merchant's reference with the charge. */
  readonly paymentReference: string;
}

/** The issuer's decision about a charge. It may arrive before the response to the charge, after it, or instead of it. */
export interface ChargeReport extends PaymentFields {
  readonly kind: 'charge';
  readonly outcome: { readonly kind: 'approved' } | { readonly kind: 'declined'; readonly reason: DeclineCode };
  /** Cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
}

/**
 * `refused`: the acquirer does not execute this request to capture. `failed`: the card scheme rejected the capture, also
 * days after it was reported as `captured`.
 */
export type CaptureReportOutcome = 'captured' | 'refused' | 'failed';

export interface CaptureReport extends PaymentFields {
  readonly kind: 'capture';
  readonly outcome: CaptureReportOutcome;
  /** Cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
  /** The acquirer took the money by itself, after the card scheme had rejected the capture. */
  readonly isRecapture?: true;
}

/** `reversed`: the reservation was released. `notFound`: there was no charge to release. */
export interface ReversalReport extends PaymentFields {
  readonly kind: 'reversal';
  readonly outcome: 'reversed' | 'notFound';
}

/**
 * The outcome of a refund. `declined`: the acquirer will not refund. `returned`: the money came back, also days after the
 * refund had succeeded.
 */
export interface RefundReport extends ReportFields {
  readonly kind: 'refund';
  /** UUID. Sent as the merchant's reference with the refund. */
  readonly refundId: string;
  readonly outcome: 'succeeded' | 'declined' | 'returned';
}

/** A report about a dispute (M8), with its dates as ISO 8601 UTC, because reports are stored as JSON. */
export interface AcquirerDisputeReport extends ReportFields {
  readonly kind: 'dispute';
  readonly dispute: Omit<DisputeReport, 'respondBy' | 'occurredAt'> & {
    readonly respondByUTCDate?: string;
    readonly occurredUTCDate: string;
  };
}

/** A settlement report can be downloaded. */
export interface StatementReport extends ReportFields {
  readonly kind: 'statement';
  /** The account that the report covers. The lines of a report name their own accounts. */
  readonly accountReference: string;
  /** Name of the report. */
  readonly acquirerReference: string;
  /** A URL of the acquirer. */
  readonly url: string;
}

/** Has no effect on a payment. It is stored and counted. */
export interface IgnoredReport extends ReportFields {
  readonly kind: 'ignored';
  /** Why, in plain words for operators. */
  readonly reason: string;
  /** An operator must look at it, because the acquirer's settings or ours are wrong. */
  readonly isIncident?: true;
}

/**
 * A message of an acquirer that captures separately. Reports arrive at least once and in any order, so the effect of
 * each depends only on the state of the rows.
 */
export type AcquirerReport =
  | ChargeReport
  | CaptureReport
  | ReversalReport
  | RefundReport
  | AcquirerDisputeReport
  | StatementReport
  | IgnoredReport;
