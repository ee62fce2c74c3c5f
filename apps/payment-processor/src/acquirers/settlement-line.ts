import type { Mode } from '@svc/contracts';

/** A settlement report that an acquirer has announced. */
export interface AnnouncedReport {
  readonly mode: Mode;
  /** Name of the report. */
  readonly acquirerReference: string;
  readonly url: string;
}

/**
 * The kind of a line of a settlement report.
 *
 * - `capture`, `captureReversal`, `refund`, `refundReturn`, `dispute`, `disputeReversal`: a movement between the payer and
 *   the acquirer, which is compared with the rows of this service
 * - `fee`: a fee of the acquirer that belongs to no payment
 * - `payout`: the acquirer paid money out
 * - `balance`: the acquirer keeps the money or releases it, for example for the next batch
 * - `unknown`: any other type. It is stored, counted and shown to operators
 */
export type SettlementLineKind =
  | 'capture'
  | 'captureReversal'
  | 'refund'
  | 'refundReturn'
  | 'dispute'
  | 'disputeReversal'
  | 'fee'
  | 'payout'
  | 'balance'
  | 'unknown';

/** One line of a settlement report. Account, batch and number identify the line, also in a report that arrives again. */
export interface SettlementLine {
  /** The merchant's account at the acquirer, 1 to 100 characters. */
  readonly accountReference: string;
  /** Number of the batch, which belongs to one payout; 0 to 999 999 999 999. */
  readonly batch: number;
  /** Number of the line in the report, from 1. */
  readonly lineNumber: number;
  readonly kind: SettlementLineKind;
  /** Type in the terms of the acquirer, at most 100 characters. */
  readonly type: string;
  /** C3. */
  readonly paymentReference: string | undefined;
  /** The acquirer's reference of the charge. */
  readonly chargeReference: string | undefined;
  /** Id of the refund, of a line of a refund. */
  readonly refundId: string | undefined;
  /** Of a line of a dispute: the `reportReference` of the report that moved the money. */
  readonly disputeReportReference: string | undefined;
  /** The acquirer's reference of the charge, of a capture; otherwise of the refund or the dispute. */
  readonly acquirerReference: string | undefined;
  readonly currencyISOCode: string | undefined;
  /** Cents that moved between the payer and the acquirer. Positive if the acquirer owes more to the platform. */
  readonly grossAmount: number | undefined;
  /** Cents by which the line changes the payout. The lines of a batch with their payout add up to 0. */
  readonly netAmount: number | undefined;
  /** Cents that the acquirer charged with this line. Negative if it returned a fee. */
  readonly feeAmount: number | undefined;
  /** Parts of the fee in cents, as the report lists them. */
  readonly feeParts: FeeParts;
  /** Why a part of the line is not usable, at most 200 characters. */
  readonly problem: string | undefined;
}

interface FeeParts {
  readonly commission: number | undefined;
  readonly markup: number | undefined;
  readonly schemeFees: number | undefined;
  readonly interchange: number | undefined;
}

/** The settlement report cannot be read. The message contains no content of the report. */
export class SettlementReportError extends Error {
  override readonly name = 'SettlementReportError';
}
