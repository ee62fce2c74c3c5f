import type { PaymentError } from '../errors.js';
import type { RefundNotice } from '../http/payments/payment-notice.js';
import type { Voucher } from '../http/payments/payment-notification.js';
import type { Mode } from './credentials.js';
import { eventType } from './envelope.js';

/** States of a payment (P1). `success` and `failed` are final. */
export type PaymentState = 'processing' | 'success' | 'failed' | 'verificationRequired';

/** States of a payable: who may take the money. Only an `open` one can be reserved. */
export type PayableState = 'open' | 'reserved' | 'paid' | 'refused' | 'closed';

/** Where a debt comes from, and what those who tell others about its payment need to know of it. */
export type PayableSource = HostedSessionSource | InvoiceSource;

/** The source of a payment in the log, which also has events of earlier releases. */
export type LoggedSource = PayableSource | CodeSource;

export interface HostedSessionSource {
  kind: 'session';
  sessionId: string;
  /** The session remembers the API version it was made with; its webhook is signed accordingly (H5). */
  apiVersion: HostedApiVersion;
  merchantOrderId: string;
  notificationUrl: string;
  /** The 20 digits of its code (D5): whoever scans it pays the session. Absent for one made before sessions had codes. */
  code?: string;
}

export type HostedApiVersion = 'v3' | 'v3.1';

/** An invoice of the invoice API (D6). */
export interface InvoiceSource {
  kind: 'invoice';
  /** UUID; also the payableId. */
  invoiceReference: string;
  /** The merchant's own reference, where it gave one. */
  externalReference?: string;
  /** Point-of-sale till identifier. */
  siteReference: string;
  /** The 20 digits of its dynamic code (D5). */
  code: string;
}

/**
 * What a third party's code stood for. Only readers of the log know it: a third party's code is paid with its provider, and
 * no payable has this source.
 */
export interface CodeSource {
  kind: 'code';
  /** Name of the provider. */
  origin: string;
  /** The provider's reference. */
  originReference?: string;
  /** Invoice reference, where the provider gave one. */
  invoiceReference?: string;
  /** Point-of-sale till identifier. */
  siteReference: string;
}

/**
 * A debt that can be paid once, as the service that made it describes it. Travels with every charge, so that a
 * payment which overtakes `session.created.v1` still works.
 */
export interface PayableDescriptor<Source extends PayableSource = HostedSessionSource> {
  /** UUID: of a hosted session its sessionId, of an invoice its reference. */
  payableId: string;
  mode: Mode;
  merchantId: number;
  siteId: number;
  /** Cents. */
  amount: number;
  currencyISOCode: string;
  /** ISO 8601 UTC; from then on no new payment is accepted. */
  expiresAt: string;
  /** Failed payments after which it is `refused` (H2). */
  triesMax: number;
  source: Source;
}

/** The payable as a payment left it; `version` orders these among each other. */
export interface PayableSnapshot {
  payableId: string;
  state: PayableState;
  version: number;
  /** Payments begun so far. */
  tries: number;
}

/** Full state of a payment. Published by payment-processor at each change. */
export interface PaymentSnapshot<Source extends LoggedSource = HostedSessionSource> {
  /** UUID of the payment; for hosted payments chosen by the page, one for each press of Pay (C4). */
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
  /** Cents, tip not included. */
  amount: number;
  /** Cents. */
  tipAmount: number;
  /** Cents, tip included; 0 unless `success` (P6). */
  processedAmount: number;
  /** When the payment was accepted; never changes (P1). ISO 8601 UTC. */
  paymentUTCDate: string;
  /** When it last changed. ISO 8601 UTC. */
  modifiedUTCDate: string;
  paymentMethodType: PaymentMethodType;
  /** Masked, e.g. `**** 4242` (P9). */
  paymentMethodLabel: string;
  /** Why it failed; empty otherwise. */
  errors: PaymentError[];
  /** Where the payer confirms the payment with the bank; only while `verificationRequired`. http(s), at most 2048. */
  verificationUrl?: string;
  /** Until when that can be done (P1). ISO 8601 UTC; with `verificationUrl`. */
  verificationUntilUTCDate?: string;
  /**
   * When the bank confirmed that it gave back a charge which came too late for this payment (H2). The payment itself
   * stays as it was. ISO 8601 UTC; only in `payment.reversed`.
   */
  reversedUTCDate?: string;
  /** A refund that ended (M5). The payment itself stays as it was. Only in `refund.succeeded` and `refund.failed`. */
  refund?: RefundNotice;
  source: Source;
  payable: PayableSnapshot;
  /** Who made it through the main API; absent: an anonymous payer on a hosted page, whose payment is no organisation's (P5). */
  partner?: PaymentPartner;
  /**
   * The merchant's name when it was paid; always there with `partner`, and absent from hosted payments of earlier releases.
   * At most 100 characters.
   */
  merchantName?: string;
  /** Point-of-sale till identifier when it was paid; there and absent as `merchantName` is. At most 100 characters. */
  siteReference?: string;
  /** What the partner sent as `orderReference` (P6). At most 100 characters. */
  orderReference?: string;
  /**
   * What the partner calls the payment that it took elsewhere (P6); only where `paymentMethodType` is `External`, and absent
   * from those of earlier releases. At most 100 characters.
   */
  externalPaymentReference?: string;
  /** Invoice reference of the service; of a hosted session, which is one to whoever scans its code, the sessionId. */
  invoiceReference?: string;
  /** The merchant's invoice reference, where it gave one. */
  invoiceExternalReference?: string;
  /** Parts that vouchers covered, as the partner said (P6); none when absent. */
  vouchers?: Voucher[];
}

/** How it was paid (P9). */
export type PaymentMethodType = 'Card' | 'External' | 'Voucher';

/** The organisation whose token a payment was made with, and its customer who paid (P5, P6). */
export interface PaymentPartner {
  /** UUID. */
  organisationId: string;
  customer: PaymentCustomer;
}

/** Specification, "Customer". */
export interface PaymentCustomer {
  /** As the partner sent it, 1 to 100 characters; compare it by its canonical form. */
  id: string;
  /** `""` when unknown (P3). */
  firstName: string;
  lastName: string;
}

/** A payment that an organisation can read back. */
export type PartnerPayment = AnyPaymentSnapshot &
  Required<Pick<AnyPaymentSnapshot, 'partner' | 'merchantName' | 'siteReference'>>;

/** Whether an organisation's token made it. Throws where such a payment is not whole. */
export function isPartners(payment: AnyPaymentSnapshot): payment is PartnerPayment {
  const { partner, merchantName, siteReference } = payment;
  if (!partner) return false;
  if (merchantName === undefined || siteReference === undefined)
    throw new Error('The payment of a partner says neither its merchant nor its till.');
  return true;
}

/** A payment of whatever there is to pay. Readers take those of the sources that they know. */
export type AnyPaymentSnapshot = PaymentSnapshot<LoggedSource>;

/** Whether it is of a hosted session: those of others have no notificationUrl, and no session to show them. */
export function isHosted(payment: AnyPaymentSnapshot): payment is PaymentSnapshot {
  return payment.source.kind === 'session';
}

export const PaymentProcessingV1 = eventType<AnyPaymentSnapshot>('payment.processing.v1');
/** The payer has to confirm it with the bank first. The payable is free meanwhile (P1). */
export const PaymentVerificationRequiredV1 = eventType<AnyPaymentSnapshot>('payment.needs-verification.v1');
export const PaymentSucceededV1 = eventType<AnyPaymentSnapshot>('payment.succeeded.v1');
export const PaymentFailedV1 = eventType<AnyPaymentSnapshot>('payment.failed.v1');
/** An approval that came too late for its payment, or second for its payable, was given back (H2). */
export const PaymentReversedV1 = eventType<AnyPaymentSnapshot>('payment.reversed.v1');

/** A payment of which money is given back, and the refund as it ended. Its aggregate is the refund. */
export type RefundedPayment = AnyPaymentSnapshot & Required<Pick<AnyPaymentSnapshot, 'refund'>>;

/** The bank has given the money of a refund back (M5). */
export const RefundSucceededV1 = eventType<RefundedPayment>('refund.succeeded.v1');
/** The bank has declined a refund: nothing was given back. */
export const RefundFailedV1 = eventType<RefundedPayment>('refund.failed.v1');

/** Published by payment-processor when a payable was closed without being paid. */
export const PayableClosedV1 = eventType<PayableSnapshot>('payable.closed.v1');

/** Published by hosted-gateway. */
export const SessionCreatedV1 = eventType<{ payable: PayableDescriptor }>('session.created.v1');
/** Its payer asked for more time: the whole payable, with its later `expiresAt`. Once for a session at most. */
export const SessionExtendedV1 = eventType<{ payable: PayableDescriptor }>('session.extended.v1');
