/** The records in the bank's file, one JSON line each. No record contains a card number. */

/** The state of a charge. The last line with the same key is valid. */
export interface ChargeRecord {
  /** Idempotency key of the charge. */
  readonly key: string;
  readonly outcome: 'approved' | 'declined' | 'reversed' | 'challenged';
  /** Why the charge was declined, or, with the outcome `challenged`, will be declined after the challenge was passed. */
  readonly reason?: DeclineReason;
  readonly mode: 'test' | 'live';
  /** The merchant account; `""` if the caller sent none. */
  readonly account: string;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  readonly paymentReference: string;
  readonly acquirerReference: string;
  /** Whether the card was charged under this key. A reversal does not change it. */
  readonly charged: boolean;
  /** Cents that a reversal returned. Less than the amount if a part was refunded before. */
  readonly reversedAmount?: number;
  /** Behaviour of the card for refunds. If absent, refunds succeed immediately. */
  readonly refundBehaviour?: RefundBehaviour;
  /**
   * Names of the fields of the payer's context that were sent, such as `browser.userAgent`. Their values are not
   * stored.
   */
  readonly payerContext?: readonly string[];
  /** ISO 8601 UTC. */
  readonly at: string;
  /**
   * The verification that the bank requires before it charges. Present with the outcome `challenged`, and after the
   * reversal of such a charge.
   */
  readonly challenge?: Challenge;
}

/**
 * The verification of the payer on the bank's page. The card is charged only by a later charge request that contains
 * the challenge's reference.
 */
export interface Challenge {
  /** Unguessable, because every client that has it can confirm or refuse the payment. */
  readonly reference: string;
  readonly state: 'pending' | 'passed' | 'failed';
  /** The payer is redirected here after the challenge. */
  readonly returnUrl: string;
}

/** A refund of a charge. The last line with the same refundKey is valid. */
export interface RefundRecord {
  /** Idempotency key of the refund. */
  readonly refundKey: string;
  /** Key of the refunded charge. */
  readonly chargeKey: string;
  readonly outcome: 'succeeded' | 'declined' | 'pending';
  /** Why the refund was declined; only with the outcome `declined`. */
  readonly reason?: RefundDeclineReason;
  readonly mode: 'test' | 'live';
  readonly account: string;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  readonly paymentReference: string;
  readonly acquirerReference: string;
  /** Number of polls while the refund was pending. */
  readonly polls: number;
  /** ISO 8601 UTC; for a refund that was pending, the time when it succeeded. */
  readonly at: string;
}

export type RefundDeclineReason = 'refused' | 'not-charged' | 'exceeds-charge';

/** A card in the vault, without its number. */
export interface VaultRecord {
  readonly vaultToken: string;
  readonly behaviour: CardBehaviour;
}

/** Behaviour of a test card when it is charged. Cards with a `refund…` behaviour are approved. */
export type CardBehaviour =
  'approved' | 'responds-late' | 'drops-the-response' | 'requires-verification' | RefundBehaviour | DeclineReason;

/** Behaviour of a test card when a charge to it is refunded. */
export type RefundBehaviour =
  'refund-declined' | 'refund-pending' | 'refund-responds-late' | 'refund-drops-the-response';

/** `lost` and `stolen`: the issuer advises never to charge the card again. */
export type DeclineReason =
  'declined' | 'insufficient-funds' | 'expired' | 'incorrect-cvv' | 'lost' | 'stolen' | 'not-verified';
