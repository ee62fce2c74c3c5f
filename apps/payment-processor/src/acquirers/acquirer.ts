import type { ErrorCode, Mode, PayerContext } from '@svc/contracts';
import type { Card } from '../card-data/card.js';

/** Why an issuer said no, as a code of the error catalogue. */
export type DeclineCode = Extract<ErrorCode, `card.${string}` | 'verification.failed'>;

/** The account at the acquirer under which a merchant's money is taken and given back: one for test, one for live. */
export interface MerchantAccount {
  readonly mode: Mode;
  /** The merchant id that the acquirer has given, 1 to 100 characters. */
  readonly accountReference: string;
}

export interface ChargeTerms {
  readonly account: MerchantAccount;
  /** The attempt's id. The acquirer charges at most once under it, whatever is repeated. */
  readonly idempotencyKey: string;
  /** Shown on the payer's statement and in the acquirer's reports (C3). */
  readonly paymentReference: string;
  /** Cents. */
  readonly amount: number;
  readonly currencyISOCode: string;
}

/** A card that the acquirer keeps in its vault; the number is nowhere else (P8). */
export interface StoredCard {
  readonly vaultToken: string;
}

export interface CardCharge extends ChargeTerms {
  readonly card: Card | StoredCard;
  /** Where the bank's own page leads the payer back to. */
  readonly payerReturnUrl: string;
  /**
   * For 3-D Secure 2 and for judging fraud; in memory alone, never stored and never logged. Each part may be missing. Undefined for a
   * payment of a partner, whose app shows the payer no page of ours, and whose API has no field for it yet.
   */
  readonly payer: PayerContext | undefined;
}

/** The second call of a payment whose payer was verified; the acquirer remembers the card and the payer's context. */
export interface VerifiedCharge extends ChargeTerms {
  readonly challengeReference: string;
}

/** A page of the bank on which the payer is verified. Nothing is charged before a {@link VerifiedCharge} names it. */
export interface Challenge {
  readonly reference: string;
  /** http(s), at most 2048 characters. */
  readonly url: string;
}

/** What the bank says of a challenge. `unknown`: it did not say. */
export type ChallengeState = 'pending' | 'passed' | 'failed' | 'unknown';

/** What became of a call. `unknown`: it may have happened, so it is never treated as failed. */
export type ChargeOutcome =
  | ReversedKey
  | { readonly kind: 'approved'; readonly acquirerReference: string }
  | { readonly kind: 'declined'; readonly reason: DeclineCode; readonly acquirerReference: string }
  | { readonly kind: 'verificationRequired'; readonly challenge: Challenge }
  | { readonly kind: 'notAttempted' }
  | { readonly kind: 'unknown' };

/** What the acquirer knows of a key. `notFound`: nothing has arrived under it so far. */
export type AskedOutcome = Exclude<ChargeOutcome, { kind: 'notAttempted' }> | { readonly kind: 'notFound' };

/** The acquirer's answer to a reversal. */
type ReversedKey =
  /** It had been charged and is given back. */
  | { readonly kind: 'reversed' }
  /** It had not been charged, and from now on never will be under this key. */
  | { readonly kind: 'neverCharged' };

export type ReversalOutcome =
  | ReversedKey
  /** Not confirmed; ask again later. */
  | { readonly kind: 'unconfirmed' };

/** Money of a charge that is to be given back, wholly or in part (M5). */
export interface RefundTerms {
  readonly account: MerchantAccount;
  /** The refund's id. The acquirer refunds at most once under it, whatever is repeated. */
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

/** The acquirer's answer to a refund. */
export type RefundOutcome =
  | { readonly kind: 'succeeded'; readonly acquirerReference: string }
  /** The acquirer gives nothing back under this key, now or later. */
  | { readonly kind: 'declined'; readonly acquirerReference: string }
  /** The acquirer has the refund and has not decided. */
  | { readonly kind: 'pending' }
  /** It may have happened: never treated as failed. */
  | { readonly kind: 'unknown' };

/** The acquirer's answer to a question about a refund. `notFound`: it has not received a refund with this key. */
export type AskedRefundOutcome = RefundOutcome | { readonly kind: 'notFound' };

/** A movement of money on the acquirer's statement. */
export interface StatementLine {
  /** `reversal` and `refund` give money back to the payer. */
  readonly kind: 'charge' | 'reversal' | 'refund';
  /** Of the charge, or of the refund. */
  readonly idempotencyKey: string;
  readonly acquirerReference: string;
  readonly paymentReference: string;
  /** Cents, always positive. */
  readonly amount: number;
  readonly currencyISOCode: string;
  /** ISO 8601 UTC. */
  readonly movedUTCDate: string;
}

/** Part of a statement, in the acquirer's order. */
export interface StatementPage {
  readonly lines: readonly StatementLine[];
  /** For {@link Acquirer.readStatement}; undefined on the last page. */
  readonly next: string | undefined;
}

/**
 * The bank that takes the money, for test or for live: the mode and the merchant's account travel with every call about money;
 * cards in the vault belong to the platform, not to a merchant. It is the one party that cannot join a transaction. An
 * adapter never throws; it says what it knows. An abstract class, because it is also its own injection token.
 */
export abstract class Acquirer {
  /** Written to each attempt and named in ledger accounts. */
  abstract readonly name: string;

  /** Whether charges and cards of this mode may be given to it. What it has, it is asked about and gives back in any mode. */
  abstract serves(mode: Mode): boolean;

  /** Account of a merchant for which none is configured; undefined where each has to be opened with the acquirer first. */
  abstract defaultAccountOf(merchantId: number): string | undefined;

  /** `signal` ends the wait, not the charge: afterwards the outcome is `unknown`. */
  abstract charge(charge: CardCharge, signal: AbortSignal): Promise<ChargeOutcome>;

  /** Charges a card whose owner was verified. Declined with `verification.failed` where he was not. */
  abstract chargeVerified(charge: VerifiedCharge, signal: AbortSignal): Promise<ChargeOutcome>;

  /** Keeps a card in the vault. `invalid`: it takes no such number; `unknown`: it did not say. */
  abstract storeCard(card: Card, mode: Mode): Promise<StoredCard | 'invalid' | 'unknown'>;

  /** Forgets it; repeating that is safe. False where it was not confirmed. */
  abstract forgetCard(card: StoredCard, mode: Mode): Promise<boolean>;

  abstract askChallenge(challengeReference: string, account: MerchantAccount): Promise<ChallengeState>;

  abstract ask(idempotencyKey: string, account: MerchantAccount): Promise<AskedOutcome>;

  /** Gives back what was charged under the key, or makes sure that nothing ever will be. Repeating it is safe. */
  abstract reverse(idempotencyKey: string, account: MerchantAccount): Promise<ReversalOutcome>;

  /** Gives money of a charge back. `signal` ends the wait, not the refund. Repeating it under its key is safe. */
  abstract refund(refund: RefundTerms, signal: AbortSignal): Promise<RefundOutcome>;

  abstract askRefund(idempotencyKey: string, account: MerchantAccount): Promise<AskedRefundOutcome>;

  /**
   * The charges and refunds of an account on one day. Undefined when the acquirer did not answer.
   *
   * @param day UTC, `2026-11-22`
   * @param next of the page before; undefined for the first one
   */
  abstract readStatement(day: string, account: MerchantAccount, next?: string): Promise<StatementPage | undefined>;
}
