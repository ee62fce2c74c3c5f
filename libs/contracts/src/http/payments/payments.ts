import type { PaymentError } from '../../errors.js';
import type { PartnerPayment, PaymentCustomer, PaymentMethodType, PaymentState } from '../../events/payments.js';

/** Maximum and default page size of the history (specification, "Limits"). */
export const MAX_HISTORY_PAGE_SIZE = 50;

/**
 * Numeric status of the single-payment resource (P2): 1 success, 2 failed, 3 verificationRequired, 4 processing. The
 * history has the same states as text.
 */
export enum SinglePaymentStatus {
  Success = 1,
  Failed = 2,
  VerificationRequired = 3,
  Processing = 4,
}

/** Response of `GET /v1/payments/{paymentReference}` (specification, "Single payment status"). */
export interface SinglePayment {
  /** The client's own reference (C4), as sent. */
  reference: string;
  /** Service payment id, 18 characters (C3). */
  paymentReference: string;
  merchantName: string;
  /**
   * A number, although the history has the status as text ({@link PaymentHistoryItem}). The specification defines both
   * forms, and clients depend on them, so both forms stay unchanged within `/v1`.
   */
  status: SinglePaymentStatus;
  /** Masked, e.g. `**** 4242` (P9). */
  paymentMethodLabel: string;
  /** ISO 4217. */
  currencyISOCode: string;
  /** Cents. */
  invoicedAmount: number;
  /** Cents, without the tip. */
  amount: number;
  /** Cents. */
  tipAmount: number;
  /** Cents, tip included; 0 unless the payment succeeded (P6). */
  processedAmount: number;
  /** Time of the last change. ISO 8601 UTC with milliseconds (C2). */
  modifiedUTCDate: string;
  /** Reasons of a failure; otherwise empty. */
  errors: PaymentError[];
}

/**
 * Element of `GET /v1/payments` and response of `POST /v1/payments` (specification, "Payment history item"). Optional
 * members are absent, never null.
 */
export interface PaymentHistoryItem {
  reference: string;
  invoiceReference?: string;
  invoiceExternalReference?: string;
  merchantName: string;
  currencyISOCode: string;
  /** Cents. */
  invoicedAmount: number;
  paymentReference: string;
  /** Time of acceptance. ISO 8601 UTC with milliseconds (C2). */
  paymentUTCDate: string;
  paymentMethodType: PaymentMethodType;
  /** Masked, e.g. `**** 4242` (P9). */
  paymentMethodDescription: string;
  /** Text, although {@link SinglePayment} has the status as a number. */
  status: PaymentState;
  /** Only while `verificationRequired`. */
  verificationUrl?: string;
  /** Cents. */
  tipAmount: number;
  /** Cents, tip included; 0 unless the payment succeeded (P6). */
  processedAmount: number;
  customer: PaymentCustomer;
  /** Point-of-sale till identifier. */
  siteReference: string;
  /** Reasons of a failure; otherwise null. */
  errors: PaymentError[] | null;
}

/** Response of `GET /v1/payments` (specification, "History response"). */
export interface PaymentHistory {
  payments: PaymentHistoryItem[];
  /** Relative link; present when the page number is greater than 1. */
  previousPage?: string;
  /** Relative link; present when a next page exists. */
  nextPage?: string;
}

/** The fields of a payment that payment-history stores. Responses are built from these fields. */
export type PaymentView = Pick<
  PartnerPayment,
  | 'reference'
  | 'paymentReference'
  | 'state'
  | 'currencyISOCode'
  | 'invoicedAmount'
  | 'amount'
  | 'tipAmount'
  | 'processedAmount'
  | 'paymentUTCDate'
  | 'modifiedUTCDate'
  | 'paymentMethodType'
  | 'paymentMethodLabel'
  | 'errors'
  | 'merchantName'
  | 'siteReference'
  | 'invoiceReference'
  | 'invoiceExternalReference'
  | 'verificationUrl'
> & { readonly customer: PaymentCustomer };

const NUMERIC_STATUS: Readonly<Record<PaymentState, SinglePaymentStatus>> = {
  success: SinglePaymentStatus.Success,
  failed: SinglePaymentStatus.Failed,
  verificationRequired: SinglePaymentStatus.VerificationRequired,
  processing: SinglePaymentStatus.Processing,
};

export function buildSinglePayment(payment: PaymentView): SinglePayment {
  return {
    reference: payment.reference,
    paymentReference: payment.paymentReference,
    merchantName: payment.merchantName,
    status: NUMERIC_STATUS[payment.state],
    paymentMethodLabel: payment.paymentMethodLabel,
    currencyISOCode: payment.currencyISOCode,
    invoicedAmount: payment.invoicedAmount,
    amount: payment.amount,
    tipAmount: payment.tipAmount,
    processedAmount: payment.processedAmount,
    modifiedUTCDate: new Date(payment.modifiedUTCDate).toISOString(),
    errors: [...payment.errors],
  };
}

/** payment-processor and payment-history use this function, because both services return history items. */
export function buildHistoryItem(payment: PaymentView): PaymentHistoryItem {
  const { invoiceReference, invoiceExternalReference, verificationUrl, errors } = payment;
  return {
    reference: payment.reference,
    ...(invoiceReference === undefined ? {} : { invoiceReference }),
    ...(invoiceExternalReference === undefined ? {} : { invoiceExternalReference }),
    merchantName: payment.merchantName,
    currencyISOCode: payment.currencyISOCode,
    invoicedAmount: payment.invoicedAmount,
    paymentReference: payment.paymentReference,
    paymentUTCDate: new Date(payment.paymentUTCDate).toISOString(),
    paymentMethodType: payment.paymentMethodType,
    paymentMethodDescription: payment.paymentMethodLabel,
    status: payment.state,
    ...(verificationUrl === undefined || payment.state !== 'verificationRequired' ? {} : { verificationUrl }),
    tipAmount: payment.tipAmount,
    processedAmount: payment.processedAmount,
    customer: { ...payment.customer },
    siteReference: payment.siteReference,
    errors: errors.length === 0 ? null : [...errors],
  };
}

/** Converts a payment of an event to the fields that responses contain. */
export function buildPaymentView(payment: PartnerPayment): PaymentView {
  return { ...payment, customer: payment.partner.customer };
}
