import type { ErrorCode, Mode, PayerContext } from '@svc/contracts';
import type { Card } from '../card-data/card.js';
import type { AnnouncedReport, SettlementLine } from './settlement-line.js';

/** The reason why the issuer declined, as a code of the error catalogue. */
export type DeclineCode = Exclude<
  Extract<ErrorCode, `card.${string}` | 'verification.failed'>,
  'card.too-many-attempts'
>;

/** A merchant's account at the acquirer for charges and refunds: one for test, one for live. */
export interface MerchantAccount {
  readonly mode: Mode;
  /** The merchant id assigned by the acquirer, 1 to 100 characters. */
  readonly accountReference: string;
}

export interface ChargeTerms {
  readonly account: MerchantAccount;
  /** The attempt's id. The acquirer charges at most once under this key, however often the call is retried. */
  readonly idempotencyKey: string;
  /** Shown on the payer's statement and in the acquirer's reports (C3). */
  readonly paymentReference: string;
  /** Cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
}

/** A card in the acquirer's vault, the only place that stores its number (P8). */
export interface StoredCard {
  readonly vaultToken: string;
}

/** A card with its place in the vault, for its deletion. */
export interface VaultCard extends StoredCard {
  /** The account whose vault has the card. Undefined for an acquirer with one vault for each mode. */
  readonly vaultAccount: string | undefined;
}

export interface CardCharge extends ChargeTerms {
  readonly card: Card | StoredCard;
  /** The bank's page redirects the payer to this URL of this service, possibly with further query parameters. */
  readonly bankReturnUrl: string;
  /** Origin of the payer's page, without a slash at the end; undefined if the payer saw no page of this platform. */
  readonly pageOrigin: string | undefined;
  /**
   * The acquirer uses this context for 3-D Secure 2 and fraud detection. The context is only in memory, never stored
   * and never logged. Each of its fields may be missing. The context is undefined for a partner's payment whose payer
   * sees no page of this service, because {@link Acquirer.needsBrowser} is false.
   */
  readonly payer: PayerContext | undefined;
  /** The payer must be verified even if the issuer would approve without it, because stolen cards are tested at the site. */
  readonly forceVerification?: boolean;
}

/**
 * The second call of a payment, after the payer was verified. The acquirer still has the card and the payer's context
 * from the first call.
 */
export interface VerifiedCharge extends ChargeTerms {
  readonly verification: Verification;
}

/** Parameter of {@link CardCharge.bankReturnUrl} in which a bank's page gives {@link Verification.result}. */
export const VERIFICATION_RESULT_PARAMETER = 'redirectResult';
/** Characters. Longer results are neither stored nor submitted. */
export const MAX_VERIFICATION_RESULT_LENGTH = 20_000;

/** A verification that the bank required, as far as this service knows it. */
export interface Verification {
  readonly challengeReference: string;
  /**
   * The result that the bank's page gave to the payer's browser for the acquirer (the query of {@link CardCharge.bankReturnUrl}).
   * Undefined until the payer has returned, and for acquirers that return the payer without a result.
   */
  readonly result: string | undefined;
}

/**
 * A page of the bank that verifies the payer. The acquirer charges only after a {@link VerifiedCharge} with this
 * reference.
 */
export interface Challenge {
  readonly reference: string;
  /** http(s), at most 2048 characters. */
  readonly url: string;
}

/** State of a challenge at the bank. `unknown`: there was no response, or an unclear response. */
export type ChallengeState = 'pending' | 'passed' | 'failed' | 'unknown';

/**
 * Outcome of a charge. `approved`: the issuer has approved; the money is taken at once, or by {@link Acquirer.capture}.
 * `unknown`: the charge may have happened, so it is never treated as failed. `hasResponded`: the acquirer itself said so, or
 * was not called, so nothing indicates that it is down.
 */
export type ChargeOutcome =
  | ConfirmedReversal
  | { readonly kind: 'approved'; readonly acquirerReference: string }
  | {
      readonly kind: 'declined';
      readonly reason: DeclineCode;
      readonly acquirerReference: string;
      /** The acquirer's own code of the refusal, for operators, at most 100 characters. */
      readonly acquirerCode?: string;
      /** The card is lost, stolen or closed, or its scheme forbids further attempts. */
      readonly mustNotRetry?: true;
    }
  | { readonly kind: 'verificationRequired'; readonly challenge: Challenge }
  | { readonly kind: 'notAttempted'; readonly hasResponded?: true }
  | { readonly kind: 'unknown'; readonly hasResponded?: true };

/**
 * Result of a query for the charge under an idempotency key. `notFound`: the acquirer has received no such charge so
 * far.
 */
export type ChargeQueryResult = Exclude<ChargeOutcome, { kind: 'notAttempted' }> | { readonly kind: 'notFound' };

/** The acquirer's confirmation of a reversal. */
type ConfirmedReversal =
  /** The card had been charged; the money is returned. */
  | { readonly kind: 'reversed' }
  /** The card had not been charged, and a later charge under this key is impossible. */
  | { readonly kind: 'neverCharged' };

export type ReversalOutcome =
  | ConfirmedReversal
  /** Not confirmed; retry later. */
  | { readonly kind: 'unconfirmed' };

/** The reversal of a charge. The acquirer may know it only by the payment's reference. */
export interface ReversalTerms {
  readonly account: MerchantAccount;
  /** Idempotency key of the charge. */
  readonly chargeKey: string;
  readonly paymentReference: string;
}

/** Takes the money of an approved charge. */
export interface CaptureTerms {
  readonly account: MerchantAccount;
  /** Idempotency key of the charge. The acquirer captures at most once, however often the call is retried. */
  readonly chargeKey: string;
  /**
   * From 1. Requests with the same number get the same response. A request with the next number is processed again: the
   * acquirer never captures more than the approved amount.
   */
  readonly keyNumber: number;
  /** The acquirer's reference of the charge. */
  readonly chargeReference: string;
  readonly paymentReference: string;
  /** Cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
}

/** Result of a request to capture. The acquirer reports the outcome later ({@link CaptureReport}). */
export type CaptureRequestResult =
  | { readonly kind: 'received'; readonly acquirerReference: string }
  /** The acquirer did not execute this request. */
  | { readonly kind: 'rejected' }
  /**
   * The request may have been received, so it is repeated. `isAnswered`: repeats of the same request get this response
   * again, so the next one needs the next {@link CaptureTerms.keyNumber}.
   */
  | { readonly kind: 'unknown'; readonly isAnswered?: true };

/** A full or partial refund of a charge (M5). */
export interface RefundTerms {
  readonly account: MerchantAccount;
  /** The refund's id. The acquirer refunds at most once under this key, however often the call is retried. */
  readonly idempotencyKey: string;
  /** Idempotency key of the charge. */
  readonly chargeKey: string;
  /** The acquirer's reference of the charge. */
  readonly chargeReference: string;
  /** The acquirer's reference of this refund, from an earlier response `pending`. */
  readonly acquirerReference: string | undefined;
  /** Shown on the payer's statement (C3). */
  readonly paymentReference: string;
  /** Cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
}

/** Outcome of a refund at the acquirer. */
export type RefundOutcome =
  | { readonly kind: 'succeeded'; readonly acquirerReference: string }
  /** Final: the acquirer will never refund under this key. */
  | { readonly kind: 'declined'; readonly acquirerReference: string }
  /** The acquirer has received the refund and has not decided yet. */
  | { readonly kind: 'pending'; readonly acquirerReference?: string }
  /** The refund may have happened, so it is never treated as failed. */
  | { readonly kind: 'unknown' }
  /**
   * The refund may have happened, and each request under its key gets this answer. Only the acquirer's report decides. A
   * request under another key could refund twice.
   */
  | { readonly kind: 'uncertain' };

/**
 * Result of a query for the refund under an idempotency key. `notFound`: the acquirer has received no such refund so
 * far.
 */
export type RefundQueryResult = RefundOutcome | { readonly kind: 'notFound' };

/** A movement of money on the acquirer's statement. */
export interface StatementLine {
  /**
   * `reversal` and `refund` return money to the payer. `dispute`: the acquirer deducted a disputed amount, at the first or
   * the second time. `disputeReversal`: it returned the amount (M8).
   */
  readonly kind: 'charge' | 'reversal' | 'refund' | 'dispute' | 'disputeReversal';
  /** Idempotency key of the charge or refund. Of a dispute: the `reportReference` of its report. */
  readonly idempotencyKey: string;
  /** The acquirer's reference of the charge or refund. Of a dispute: its `disputeReference`. */
  readonly acquirerReference: string;
  readonly paymentReference: string;
  /** Cents, always positive. */
  readonly amount: number;
  readonly currencyISOCode: string;
  /** ISO 8601 UTC. */
  readonly movedUTCDate: string;
}

/** A page of a statement. The lines are in the acquirer's order. */
export interface StatementPage {
  readonly lines: readonly StatementLine[];
  /** Cursor of the next page, for {@link Acquirer.readStatement}; undefined on the last page. */
  readonly next: string | undefined;
}

/**
 * The bank that charges cards, in test or live mode. Every call that moves money contains the mode and the merchant's
 * account. Cards in the vault belong to the platform, not to a merchant. A call to the acquirer cannot be part of a
 * database transaction. After an error of the acquirer or the network, a method does not throw: it returns `unknown`,
 * `unconfirmed` or false. Only {@link readSettlementReport} throws.
 */
export abstract class Acquirer {
  /** Stored with each attempt, and part of the names of ledger accounts. */
  abstract readonly name: string;

  /**
   * True when an approval only reserves the money, and {@link capture} takes it. Such an acquirer answers no queries about
   * charges: it reports outcomes by itself ({@link AcquirerReport}). A charge whose outcome stays unknown is abandoned: it
   * is never captured, so no money can move, and its reservation is released by {@link reverse}.
   */
  abstract readonly capturesSeparately: boolean;

  /**
   * True when a charge needs the data of the payer's browser for 3-D Secure. A partner's payment has no browser, so its
   * payer first opens a page of this service.
   */
  abstract readonly needsBrowser: boolean;

  /**
   * True when the acquirer has the settings of this mode. Whether it accepts new charges also depends on the
   * configuration ({@link Acquirers.acceptsNew}). Queries, refunds and reversals of existing charges work in any mode.
   */
  abstract supportsMode(mode: Mode): boolean;

  /**
   * The account for a merchant without a configured account. Undefined when the acquirer has no such default, because
   * each merchant must first open an account.
   */
  abstract getDefaultAccount(merchantId: number): string | undefined;

  /** `signal` aborts the wait, not the charge: the outcome is then `unknown`. */
  abstract charge(charge: CardCharge, signal: AbortSignal): Promise<ChargeOutcome>;

  /** Charges a card after its owner was verified. Declines with `verification.failed` if the verification failed. */
  abstract chargeVerified(charge: VerifiedCharge, signal: AbortSignal): Promise<ChargeOutcome>;

  /**
   * Stores a card in the vault. `invalid`: the acquirer rejects the number. `unknown`: there was no response, or an
   * unclear response.
   */
  abstract storeCard(card: Card, mode: Mode): Promise<VaultCard | 'invalid' | 'unknown'>;

  /** Deletes a card from the vault; safe to retry. False when the deletion was not confirmed. */
  abstract deleteCard(card: VaultCard, mode: Mode): Promise<boolean>;

  abstract getChallengeState(verification: Verification, account: MerchantAccount): Promise<ChallengeState>;

  abstract getChargeStatus(idempotencyKey: string, account: MerchantAccount): Promise<ChargeQueryResult>;

  /**
   * Reverses a charge that was not captured separately, or blocks any later charge under its key. Safe to retry. An
   * acquirer that reports outcomes by itself answers `unconfirmed` and reports the reversal ({@link ReversalReport}).
   */
  abstract reverse(terms: ReversalTerms): Promise<ReversalOutcome>;

  /** Takes the money of an approved charge. Never called if {@link capturesSeparately} is false. Safe to retry. */
  abstract capture(terms: CaptureTerms, signal: AbortSignal): Promise<CaptureRequestResult>;

  /** Refunds a charge. `signal` aborts the wait, not the refund. Safe to retry under the same key. */
  abstract refund(refund: RefundTerms, signal: AbortSignal): Promise<RefundOutcome>;

  /**
   * Queries a refund. An acquirer that answers no queries responds `notFound` for a refund without its reference, so that
   * the refund is sent again with the same key, and otherwise `pending`, until it reports the outcome.
   */
  abstract getRefundStatus(refund: RefundTerms): Promise<RefundQueryResult>;

  /**
   * Reads the charges, reversals, refunds and movements of disputes of an account on one day. Undefined when there was no
   * valid response. An acquirer has either this method or {@link readSettlementReport}.
   *
   * @param day UTC, `2026-11-22`
   * @param next cursor from the previous page; undefined for the first page
   */
  readStatement?(day: string, account: MerchantAccount, next?: string): Promise<StatementPage | undefined>;

  /**
   * Reads the lines of a settlement report that the acquirer has announced, in the order of the report. Throws when the
   * report cannot be read completely; the lines before the error are valid.
   */
  readSettlementReport?(report: AnnouncedReport, signal: AbortSignal): AsyncIterable<SettlementLine>;
}
