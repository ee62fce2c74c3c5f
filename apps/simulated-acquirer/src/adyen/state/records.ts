/**
 * The records in the emulator's file. If several records have the same key, the last one is valid. No record contains a
 * card number or a security code.
 */
export type EmulatorRecord =
  | PaymentRecord
  | ChallengeRecord
  | ModificationRecord
  | StoredCardRecord
  | FirstResponseRecord
  | WebhookRecord
  | DisputeRecord
  | MovementRecord
  | BatchRecord
  | ClockRecord;

export interface Amount {
  readonly currency: string;
  /** Minor units (cents). */
  readonly value: number;
}

/** A card without its number and security code. */
export interface Card {
  /** Adyen's name of the brand, such as `visa` or `mc`. */
  readonly brand: string;
  /** The first six digits. */
  readonly bin: string;
  readonly lastFour: string;
  /** Without a leading zero. */
  readonly expiryMonth: string;
  /** Four digits. */
  readonly expiryYear: string;
  readonly holderName?: string;
  /** Whether 3D Secure authenticates the payer of this card. */
  readonly isEnrolled: boolean;
  /** Whether it is a test card with a wrong security code or expiry date. */
  readonly isWrong: boolean;
}

/** The parts of a request for a payment that an authorisation needs, also after a challenge. */
export interface PaymentOrder {
  readonly merchantAccount: string;
  /** The merchant's reference of the payment. */
  readonly reference: string;
  readonly amount: Amount;
  readonly card: Card;
  /** The value of `RequestedTestAcquirerResponseCode`. */
  readonly requestedCode?: string;
  readonly shopperReference?: string;
  readonly shopperInteraction: string;
  readonly recurringProcessingModel?: string;
  readonly isManualCapture: boolean;
  /** Whether the card is stored when the payment is authorised. */
  readonly storesCard: boolean;
  /** The token with which the payment is made. */
  readonly storedPaymentMethodId?: string;
}

export type PaymentState =
  'authorised' | 'refused' | 'error' | 'cancelled-by-risk' | 'received' | 'captured' | 'cancelled' | 'capture-failed';

/** A payment. A request that led to a redirect is a {@link ChallengeRecord} until its details arrive. */
export interface PaymentRecord {
  readonly kind: 'payment';
  readonly pspReference: string;
  readonly order: PaymentOrder;
  readonly state: PaymentState;
  /** Present if the payment was authorised. */
  readonly authCode?: string;
  readonly refusalReason?: string;
  readonly refusalReasonCode?: string;
  /** The token under which the payment stored its card. */
  readonly newStoredPaymentMethodId?: string;
  /** Result of 3D Secure; absent if it was not offered. */
  readonly isAuthenticated?: boolean;
  /** Cents. */
  readonly capturedValue: number;
  /** Cents of refunds that were accepted and have not failed. */
  readonly refundedValue: number;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** A redirect to the 3D Secure page. */
export interface ChallengeRecord {
  readonly kind: 'challenge';
  /** In the URL of the page; unguessable. */
  readonly token: string;
  /** The reference in the response with the redirect. The payment gets another one. */
  readonly pspReference: string;
  readonly order: PaymentOrder;
  readonly returnUrl: string;
  readonly state: 'pending' | 'passed' | 'failed' | 'submitted';
  /** Present once the payer has answered. */
  readonly redirectResult?: string;
  readonly at: string;
}

export type ModificationType = 'capture' | 'cancel' | 'technical-cancel' | 'refund' | 'reversal';

/** A capture, cancellation, refund or reversal. */
export interface ModificationRecord {
  readonly kind: 'modification';
  readonly pspReference: string;
  readonly type: ModificationType;
  readonly merchantAccount: string;
  /** Absent if a cancellation by reference found no payment. */
  readonly paymentPspReference?: string;
  /** The merchant's reference of the modification. */
  readonly reference?: string;
  readonly amount: Amount;
  /** `undone`: a capture or refund that failed after its success. */
  readonly state: 'succeeded' | 'failed' | 'undone';
  readonly at: string;
}

export interface StoredCardRecord {
  readonly kind: 'stored-card';
  readonly id: string;
  readonly merchantAccount: string;
  readonly shopperReference: string;
  readonly recurringProcessingModel: string;
  readonly card: Card;
  readonly isDeleted: boolean;
  readonly at: string;
}

/** The first response to a request with an idempotency key. */
export interface FirstResponseRecord {
  readonly kind: 'first-response';
  readonly key: string;
  readonly status: number;
  /** JSON. */
  readonly body: string;
  readonly at: string;
}

/** Adyen's NotificationRequestItem. */
export interface NotificationItem {
  readonly additionalData: Readonly<Record<string, string>>;
  readonly amount: Amount;
  readonly eventCode: string;
  readonly eventDate: string;
  readonly merchantAccountCode: string;
  readonly merchantReference: string;
  readonly originalReference?: string;
  readonly paymentMethod?: string;
  readonly operations?: readonly string[];
  readonly pspReference: string;
  readonly reason: string;
  readonly success: 'true' | 'false';
}

export interface WebhookRecord {
  readonly kind: 'webhook';
  /** Position in the order of creation, from 1. */
  readonly id: number;
  readonly item: NotificationItem;
  readonly live: 'true' | 'false';
  /** `withheld`: it waits until the control interface releases it. `abandoned`: Adyen stops after 30 days. */
  readonly state: 'queued' | 'withheld' | 'accepted' | 'abandoned';
  /** Number of attempts to deliver it. */
  readonly attempts: number;
  /** ISO 8601 UTC. */
  readonly nextAttemptAt: string;
  readonly lastError?: string;
  readonly at: string;
}

export interface DisputeRecord {
  readonly kind: 'dispute';
  readonly pspReference: string;
  readonly paymentPspReference: string;
  readonly amount: Amount;
  /** The event codes so far, oldest first. */
  readonly events: readonly string[];
  /** Whether the disputed amount is debited. */
  readonly isDebited: boolean;
  readonly defensePeriodEndsAt: string;
  readonly at: string;
}

/** Types of lines of the settlement details report. */
export type MovementType =
  'Settled' | 'Refunded' | 'RefundedReversed' | 'Chargeback' | 'ChargebackReversed' | 'SecondChargeback';

/** A movement of money that belongs to a payment. */
export interface MovementRecord {
  readonly kind: 'movement';
  /** Position in the order of creation, from 1. */
  readonly id: number;
  readonly type: MovementType;
  readonly merchantAccount: string;
  readonly paymentPspReference: string;
  readonly merchantReference: string;
  /** Of the capture, refund or dispute. */
  readonly modificationPspReference: string;
  readonly modificationMerchantReference: string;
  readonly paymentMethod: string;
  readonly amount: Amount;
  /** The batch that settled it. Absent until then. 0 if the movement was withdrawn before a batch settled it. */
  readonly batch?: number;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** A closed settlement batch of a merchant account. */
export interface BatchRecord {
  readonly kind: 'batch';
  readonly merchantAccount: string;
  readonly number: number;
  readonly at: string;
}

export interface ClockRecord {
  readonly kind: 'clock';
  readonly offsetMs: number;
}
