import type { Mode } from '@svc/contracts';

/**
 * The kind of an acquirer's report about a dispute. Money moves only with `debited`, `reversed` and `debitedAgain`.
 *
 * - `inquiry`: the payer's bank asks for information (request for information, retrieval)
 * - `opened`: a chargeback was announced
 * - `debited`: the acquirer deducted the amount (chargeback). It can still be defended
 * - `reversed`: the acquirer returned the amount (chargeback reversed, representment). It may be deducted again
 * - `debitedAgain`: the acquirer deducted the amount again (second chargeback)
 * - `preArbitrationOpened`: the payer's bank continues the dispute
 * - `defended`: a defence was sent to the payer's bank
 * - `defencePeriodEnded`: the merchant can no longer respond
 * - `commented`: the payer's bank sent a comment
 * - `won`, `lost`: the decision. It moves no money by itself
 */
export type DisputeReportKind =
  | 'inquiry'
  | 'opened'
  | 'debited'
  | 'reversed'
  | 'debitedAgain'
  | 'preArbitrationOpened'
  | 'defended'
  | 'defencePeriodEnded'
  | 'commented'
  | 'won'
  | 'lost';

/** One report of an acquirer about one dispute. It may arrive late, twice, and before earlier reports. */
export interface DisputeReport {
  /** Name of the acquirer, as its attempts store it. */
  readonly acquirer: string;
  readonly mode: Mode;
  /**
   * The acquirer's reference of this report, 1 to 100 characters: the same whenever the acquirer repeats the report, and
   * different for each report of a dispute. Where money moved, it is also the `idempotencyKey` of the line on the
   * acquirer's statement.
   */
  readonly reportReference: string;
  /** The acquirer's reference of the dispute, 1 to 100 characters: the same in all its reports. */
  readonly disputeReference: string;
  readonly charge: DisputedCharge;
  readonly kind: DisputeReportKind;
  /** Cents: disputed, deducted or returned. May be less than the charge. */
  readonly amount: number;
  /** ISO 4217. */
  readonly currencyISOCode: string;
  /** The scheme's reason code and the acquirer's text, if known. */
  readonly reason: { readonly code?: string; readonly text?: string };
  /** Until when the merchant can respond; undefined if the report has no deadline, or if no response is necessary. */
  readonly respondBy: Date | undefined;
  /** When it happened, according to the acquirer. */
  readonly occurredAt: Date;
}

/** The charge that is disputed: by its idempotency key, or by its payment. */
export type DisputedCharge = ({ readonly idempotencyKey: string } | { readonly paymentReference: string }) & {
  /** The acquirer's reference of the charge, if the report contains it. It is checked. */
  readonly acquirerReference?: string;
};
