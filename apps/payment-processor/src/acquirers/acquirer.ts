import type { ErrorCode, Mode, PayerContext } from '@svc/contracts';
import type { Card } from '../card-data/card.js';

/** The reason why the issuer declined, as a code of the error catalogue. */
export type DeclineCode = Extract<ErrorCode, `card.${string}` | 'verification.failed'>;

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

export interface CardCharge extends ChargeTerms {
  readonly card: Card | StoredCard;
  /** The bank's page redirects the payer to this URL. */
  readonly payerReturnUrl: string;
  /**
   * The acquirer uses this context for 3-D Secure 2 and fraud detection. The context is only in memory, never stored
   * and never logged. Each of its fields may be missing. The context is undefined for a partner's payment, because the
   * payer sees no page of this service and the API has no field for the context yet.
   */
  readonly payer: PayerContext | undefined;
}

/**
 * The second call of a payment, after the payer was verified. The acquirer still has the card and the payer's context
 * from the first call.
 */
export interface VerifiedCharge extends ChargeTerms {
  readonly challengeReference: string;
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

/** Outcome of a charge. `unknown`: the charge may have happened, so it is never treated as failed. */
export type ChargeOutcome =
  | ConfirmedReversal
  | { readonly kind: 'approved'; readonly acquirerReference: string }
  | { readonly kind: 'declined'; readonly reason: DeclineCode; readonly acquirerReference: string }
  | { readonly kind: 'verificationRequired'; readonly challenge: Challenge }
  | { readonly kind: 'notAttempted' }
  | { readonly kind: 'unknown' };

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

/** A full or partial refund of a charge (M5). */
export interface RefundTerms {
  readonly account: MerchantAccount;
  /** The refund's id. The acquirer refunds at most once under this key, however often the call is retried. */
  readonly idempotencyKey: string;
  /** Idempotency key of the charge. */
  readonly chargeKey: string;
  /** The acquirer's reference of the charge. */
  readonly chargeReference: string;
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
  | { readonly kind: 'pending' }
  /** The refund may have happened, so it is never treated as failed. */
  | { readonly kind: 'unknown' };

/**
 * Result of a query for the refund under an idempotency key. `notFound`: the acquirer has received no such refund so
 * far.
 */
export type RefundQueryResult = RefundOutcome | { readonly kind: 'notFound' };

/** A movement of money on the acquirer's statement. */
export interface StatementLine {
  /** `reversal` and `refund` return money to the payer. */
  readonly kind: 'charge' | 'reversal' | 'refund';
  /** Idempotency key of the charge or refund. */
  readonly idempotencyKey: string;
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
 * database transaction. An implementation never throws: it returns `unknown` instead. `Acquirer` is an abstract class
 * and not an interface, because Nest needs a class as the injection token.
 */
export abstract class Acquirer {
  /** Stored with each attempt, and part of the names of ledger accounts. */
  abstract readonly name: string;

  /**
   * True when the acquirer accepts new charges and cards in this mode. Queries, refunds and reversals of existing
   * charges work in any mode.
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
  abstract storeCard(card: Card, mode: Mode): Promise<StoredCard | 'invalid' | 'unknown'>;

  /** Deletes a card from the vault; safe to retry. False when the deletion was not confirmed. */
  abstract deleteCard(card: StoredCard, mode: Mode): Promise<boolean>;

  abstract getChallengeState(challengeReference: string, account: MerchantAccount): Promise<ChallengeState>;

  abstract getChargeStatus(idempotencyKey: string, account: MerchantAccount): Promise<ChargeQueryResult>;

  /** Reverses the charge under this key, or blocks any later charge under the key. Safe to retry. */
  abstract reverse(idempotencyKey: string, account: MerchantAccount): Promise<ReversalOutcome>;

  /** Refunds a charge. `signal` aborts the wait, not the refund. Safe to retry under the same key. */
  abstract refund(refund: RefundTerms, signal: AbortSignal): Promise<RefundOutcome>;

  abstract getRefundStatus(idempotencyKey: string, account: MerchantAccount): Promise<RefundQueryResult>;

  /**
   * Reads the charges, reversals and refunds of an account on one day. Undefined when there was no valid response.
   *
   * @param day UTC, `2026-11-22`
   * @param next cursor from the previous page; undefined for the first page
   */
  abstract readStatement(day: string, account: MerchantAccount, next?: string): Promise<StatementPage | undefined>;
}
