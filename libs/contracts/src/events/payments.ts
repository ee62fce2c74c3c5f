import type { PaymentError } from '../errors.js';
import type { DisputeStage } from '../http/payments/disputes.js';
import type { RefundStatus } from '../http/payments/refunds.js';
import type { Mode } from './credentials.js';
import { eventType } from './envelope.js';

/** States of a payment (P1). `success` and `failed` are final. */
export type PaymentState = 'processing' | 'success' | 'failed' | 'verificationRequired';

/** States of a payable. Only an `open` payable can be reserved. */
export type PayableState = 'open' | 'reserved' | 'paid' | 'refused' | 'closed';

/** The origin of a payable, with the data that other services need to report its payment. */
export type PayableSource = HostedSessionSource | InvoiceSource;

export interface HostedSessionSource {
  kind: 'session';
  sessionId: string;
  /** The API version that created the session. This version decides how the webhook is signed (H5). */
  apiVersion: HostedApiVersion;
  merchantOrderId: string;
  notificationUrl: string;
  /** The 20 digits of the code (D5) with which a payer can pay the session. */
  code: string;
}

export type HostedApiVersion = 'v3' | 'v3.1';

/** An invoice of the invoice API (D6). */
export interface InvoiceSource {
  kind: 'invoice';
  /**
   * UUID; also the payableId.
   * @schema uuid
   */
  invoiceReference: string;
  /** The merchant's own reference, if there is one. */
  externalReference?: string;
  /** Point-of-sale till identifier. */
  siteReference: string;
  /** The 20 digits of its dynamic code (D5). */
  code: string;
}

/**
 * An amount that can be paid once, described by the service that created it. Sent with every charge, so that a payment
 * works even if it arrives before `session.created.v1`.
 */
export interface PayableDescriptor<Source extends PayableSource = PayableSource> {
  /**
   * UUID: the sessionId of a hosted session, or the reference of an invoice.
   * @schema uuid
   */
  payableId: string;
  mode: Mode;
  merchantId: number;
  siteId: number;
  /** Cents. */
  amount: number;
  currencyISOCode: string;
  /**
   * ISO 8601 UTC. At and after this time, no new payment is accepted.
   * @schema date-time
   */
  expiresAt: string;
  /** Number of failed payments after which the payable is `refused` (H2). */
  maxPayments: number;
  source: Source;
}

/** The payable of a hosted session. */
export type HostedPayableDescriptor = PayableDescriptor<HostedSessionSource>;

/** The state of a payable. A higher `version` is newer. */
export interface PayableSnapshot {
  payableId: string;
  state: PayableState;
  version: number;
  /** Number of payments started so far. */
  paymentCount: number;
}

/**
 * Full state of a payment. Published by payment-processor at each change. A consumer processes only the sources that it
 * supports.
 */
export interface PaymentSnapshot<Source extends PayableSource = PayableSource> {
  /**
   * UUID of the payment. For hosted payments, the page creates a new UUID for each submission (C4).
   * @schema uuid
   */
  reference: string;
  /** Service payment id (C3). */
  paymentReference: string;
  mode: Mode;
  merchantId: number;
  siteId: number;
  state: PaymentState;
  currencyISOCode: string;
  /** Cents. */
  invoicedAmount: number;
  /** Cents, without the tip. */
  amount: number;
  /** Cents. */
  tipAmount: number;
  /** Cents, tip included; 0 unless `success` (P6). */
  processedAmount: number;
  /** When the payment was accepted; never changes (P1). ISO 8601 UTC. */
  paymentUTCDate: string;
  /** Time of the last change. ISO 8601 UTC. */
  modifiedUTCDate: string;
  paymentMethodType: PaymentMethodType;
  /** Masked, e.g. `**** 4242` (P9). */
  paymentMethodLabel: string;
  /** Reasons of a failure; otherwise empty. */
  errors: PaymentError[];
  /**
   * URL where the payer confirms the payment with the bank; only while `verificationRequired`. http(s), at most 2048
   * characters.
   */
  verificationUrl?: string;
  /** Deadline of the verification (P1). ISO 8601 UTC; with `verificationUrl`. */
  verificationUntilUTCDate?: string;
  /**
   * Time at which the bank confirmed the reversal of a late charge of this payment (H2). The payment itself does not
   * change. ISO 8601 UTC; only in `payment.reversed`.
   */
  reversedUTCDate?: string;
  /**
   * True when the payment succeeded and the acquirer could not take the money, so that the payment was booked back. Only
   * in `payment.reversed`.
   */
  captureFailed?: boolean;
  /** A final refund (M5). The payment itself does not change. Only in `refund.succeeded` and `refund.failed`. */
  refund?: FinalRefund;
  /** A changed dispute (M8). The payment itself does not change. Only in `dispute.changed`. */
  dispute?: DisputeChange;
  source: Source;
  payable: PayableSnapshot;
  /**
   * The partner that created the payment through the main API. Absent for an anonymous payer on a hosted page, whose
   * payment belongs to no organisation (P5).
   */
  partner?: PaymentPartner;
  /** The merchant's name at the time of the payment, 1 to 100 characters. */
  merchantName: string;
  /** Point-of-sale till identifier at the time of the payment, at most 100 characters. */
  siteReference: string;
  /** The partner's `orderReference` (P6). At most 100 characters. */
  orderReference?: string;
  /**
   * The partner's own reference of an external payment (P6); only if `paymentMethodType` is `External`. At most 100
   * characters.
   */
  externalPaymentReference?: string;
  /** Invoice reference of the platform; for a hosted session the sessionId. */
  invoiceReference?: string;
  /** The merchant's invoice reference, if there is one. */
  invoiceExternalReference?: string;
  /** Parts covered by vouchers, as reported by the partner (P6); absent means none. */
  vouchers?: Voucher[];
}

/** Specification, "Voucher". */
export interface Voucher {
  merchantLiable: boolean;
  /** Cents. */
  amount: number;
}

/** A full or partial refund, or an automatic reversal (H2, M5). */
export interface MerchantRefund {
  /**
   * UUID; never changes.
   * @schema uuid
   */
  refundReference: string;
  /** Cents. */
  amount: number;
  status: RefundStatus;
  /** ISO 8601 UTC with milliseconds (C2). */
  createdUTCDate: string;
}

/** A refund with an outcome. */
interface FinalRefund extends MerchantRefund {
  /** When the money of a refund that had succeeded came back. The refund is then failed. ISO 8601 UTC. */
  returnedUTCDate?: string;
}

/** A dispute of the payer's bank about a payment (M8). */
export interface MerchantDispute {
  /**
   * UUID; never changes.
   * @schema uuid
   */
  disputeReference: string;
  stage: DisputeStage;
  /** Disputed amount in cents: all or a part of the payment. Earlier refunds do not reduce it. */
  amount: number;
  /** The card scheme's reason code and the acquirer's text, at most 200 characters; `""` when unknown. */
  reason: string;
  /**
   * Until when the merchant can respond; absent when no response is possible or necessary. ISO 8601 UTC with
   * milliseconds (C2).
   */
  respondByUTCDate?: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  createdUTCDate: string;
}

/** A dispute after a change. */
export interface DisputeChange extends MerchantDispute {
  /**
   * UUID of the change; also the `webhook-id` of its notification.
   * @schema uuid
   */
  changeReference: string;
  /**
   * ISO 8601 UTC with milliseconds (C2).
   * @schema date-time
   */
  changedUTCDate: string;
}

/** The payment method (P9). */
export type PaymentMethodType = 'Card' | 'External' | 'Voucher';

/** The organisation of the token that created the payment, and the customer who paid (P5, P6). */
interface PaymentPartner {
  /**
   * UUID.
   * @schema uuid
   */
  organisationId: string;
  customer: PaymentCustomer;
}

/** Specification, "Customer". */
export interface PaymentCustomer {
  /** As sent by the partner, 1 to 100 characters. UUIDs must be compared case-insensitively. */
  id: string;
  /** `""` when unknown (P3). */
  firstName: string;
  lastName: string;
}

/** A payment that belongs to an organisation. */
export type PartnerPayment = PaymentSnapshot & Required<Pick<PaymentSnapshot, 'partner'>>;

/**
 * A payment that a payer has started on a page. Contains only what readers need while the payment is in progress,
 * because the full snapshot of its outcome usually follows within a second.
 */
export interface PaymentInProgress extends Pick<
  PaymentSnapshot,
  'reference' | 'paymentReference' | 'paymentUTCDate' | 'modifiedUTCDate' | 'payable'
> {
  state: 'processing';
  source: Pick<PayableSource, 'kind'>;
}

/** False while the payment is in progress: the snapshot may contain only the members of {@link PaymentInProgress}. */
export function isFullSnapshot<P extends Pick<PaymentSnapshot, 'state'>>(payment: P | PaymentInProgress): payment is P {
  return payment.state !== 'processing';
}

/** Whether an organisation's token created the payment. */
export function isPartnerPayment<P extends Pick<PaymentSnapshot, 'partner'> | PaymentInProgress>(
  payment: P,
): payment is Exclude<P, PaymentInProgress> & Required<Pick<PaymentSnapshot, 'partner'>> {
  return 'partner' in payment && payment.partner !== undefined;
}

/** A payment of a hosted session. Other payments have no notificationUrl and no session page. */
export type HostedPaymentSnapshot = PaymentSnapshot<HostedSessionSource>;

/** Whether the payment belongs to a hosted session. */
export function isHostedPayment<P extends { source: Pick<PayableSource, 'kind'> }>(
  payment: P,
): payment is P & { source: { kind: 'session' } } {
  return payment.source.kind === 'session';
}

// service-messages.ts lists the services that consume each type. A handler has the type in its `@EventPattern`.
/** The full snapshot only for a payment of a partner, whose history shows payments in progress too (P5). */
export const PaymentProcessingV1 = eventType<PaymentSnapshot | PaymentInProgress>('payment.processing.v1');
/** The payer must confirm the payment with the bank first. Meanwhile the payable is not reserved (P1). */
export const PaymentVerificationRequiredV1 = eventType<PaymentSnapshot>('payment.verification-required.v1');
export const PaymentSucceededV1 = eventType<PaymentSnapshot>('payment.succeeded.v1');
export const PaymentFailedV1 = eventType<PaymentSnapshot>('payment.failed.v1');
/**
 * A late approval, or a second approval for the same payable, was reversed (H2), or the acquirer could not take the money
 * of a payment that had succeeded (`captureFailed`). The aggregate is the attempt.
 */
export const PaymentReversedV1 = eventType<PaymentSnapshot>('payment.reversed.v1');

/** A payment with its final refund. The aggregate is the refund. */
export type RefundedPayment = PaymentSnapshot & Required<Pick<PaymentSnapshot, 'refund'>>;

/** The bank has paid out a refund (M5). */
export const RefundSucceededV1 = eventType<RefundedPayment>('refund.succeeded.v1');
/** The bank has declined a refund, or (version 2) the money of a refund that had succeeded came back. */
export const RefundFailedV1 = eventType<RefundedPayment>('refund.failed.v1');

/** A payment with its changed dispute. The aggregate is the dispute. */
export type DisputedPayment = PaymentSnapshot & Required<Pick<PaymentSnapshot, 'dispute'>>;

/** A dispute was opened, or its stage, amount, reason or deadline has changed (M8). */
export const DisputeChangedV1 = eventType<DisputedPayment>('dispute.changed.v1');

/** Published by payment-processor when a payable was closed without being paid. */
export const PayableClosedV1 = eventType<PayableSnapshot>('payable.closed.v1');

/** Published by hosted-gateway. */
export const SessionCreatedV1 = eventType<{ payable: HostedPayableDescriptor }>('session.created.v1');
/**
 * The payer extended the session. Contains the complete payable with its later `expiresAt`. At most once for each
 * session.
 */
export const SessionExtendedV1 = eventType<{ payable: HostedPayableDescriptor }>('session.extended.v1');
