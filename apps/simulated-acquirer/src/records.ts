/** What the bank writes into its books, a line for each. */

/** What became of a key. A line of the file; never a card number. */
export interface ChargeRecord {
  /** Idempotency key it came with. */
  readonly key: string;
  readonly outcome: 'approved' | 'declined' | 'reversed' | 'challenged';
  /** Why, when declined. */
  readonly reason?: DeclineReason;
  readonly mode: 'test' | 'live';
  /** The merchant account. Absent where the caller named none, and in lines of earlier releases. */
  readonly account?: string;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  readonly paymentReference: string;
  readonly acquirerReference: string;
  /** Whether money was taken under this key, before any reversal. */
  readonly charged: boolean;
  /** Cents that a reversal gave back; less than the amount where a part had been refunded before. */
  readonly reversedAmount?: number;
  /** What the card does when it is refunded; absent: it takes the refund at once. */
  readonly refundBehaviour?: RefundBehaviour;
  /** Which parts of the payer's context came with it, such as `browser.userAgent`; what they said is kept nowhere. */
  readonly payerContext?: readonly string[];
  /** ISO 8601 UTC. Absent from lines of earlier releases, which stand on no statement. */
  readonly at?: string;
  /** The card's owner has to be verified first; with `challenged`, and after its reversal. */
  readonly challenge?: Challenge;
}

/** What the bank asks the payer on a page of its own. It takes no money: a charge that names it does. */
export interface Challenge {
  /** Unguessable: whoever knows it can answer it. */
  readonly reference: string;
  readonly state: 'pending' | 'passed' | 'failed';
  /** Where the payer goes on. */
  readonly returnUrl: string;
}

/** A refund of a charge. A line of the file, as a charge; the last line of a refundKey counts. */
export interface RefundRecord {
  /** Idempotency key it came with. */
  readonly refundKey: string;
  /** Key of the charge of which it gives money back. */
  readonly chargeKey: string;
  readonly outcome: 'succeeded' | 'declined' | 'pending';
  /** Why, when declined. */
  readonly reason?: RefundDeclineReason;
  readonly mode: 'test' | 'live';
  readonly account?: string;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  readonly paymentReference: string;
  readonly acquirerReference: string;
  /** How often a pending one was asked about. */
  readonly asked: number;
  /** ISO 8601 UTC; of a refund that was pending, when it succeeded. */
  readonly at: string;
}

export type RefundDeclineReason = 'refused' | 'not-charged' | 'exceeds-charge';

/** A card in the vault. A line of the file, as a charge; the number is in none. */
export interface VaultRecord {
  readonly vaultToken: string;
  readonly behaviour: CardBehaviour;
}

/** What a test number does when it is charged; those that begin with `refund` are approved. */
export type CardBehaviour =
  'approved' | 'answers-late' | 'drops-the-answer' | 'asks-for-verification' | RefundBehaviour | DeclineReason;

/** What a test number does when a charge to it is refunded. */
export type RefundBehaviour = 'refund-declined' | 'refund-pending' | 'refund-answers-late' | 'refund-drops-the-answer';

export type DeclineReason = 'declined' | 'insufficient-funds' | 'expired' | 'incorrect-cvv' | 'not-verified';
