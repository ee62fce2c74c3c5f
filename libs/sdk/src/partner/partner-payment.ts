/** Parsers for the main API's responses about payments and cards. They throw an error for invalid content. */
import {
  type ApiErrorItem,
  MalformedPaymentError,
  MAX_AMOUNT_CENTS,
  readErrors,
  readObject,
  readText,
  readWholeNumber,
} from '../hosted-payment.js';

/** `success` and `failed` are final. */
export type PartnerPaymentStatus = 'processing' | 'success' | 'failed' | 'verificationRequired';
const STATUSES: readonly string[] = ['processing', 'success', 'failed', 'verificationRequired'];

export interface PartnerCustomer {
  /** As sent with the payment: the partner's own id of the customer, or the customerReference. */
  id: string;
  /** `""` if the name is unknown. */
  firstName: string;
  lastName: string;
}

/** A payment as returned by the history and by `pay`. Amounts are cents, dates ISO 8601 UTC. */
export interface PartnerPayment {
  /** Your own reference, as sent. */
  reference: string;
  /** The platform's reference: 18 characters. */
  paymentReference: string;
  invoiceReference?: string;
  invoiceExternalReference?: string;
  merchantName: string;
  currencyISOCode: string;
  invoicedAmount: number;
  tipAmount: number;
  /** Including the tip; 0 unless the payment succeeded. */
  processedAmount: number;
  paymentUTCDate: string;
  /** `Card`, `External` or `Voucher`. */
  paymentMethodType: string;
  /** Masked, e.g. `**** 4242`. */
  paymentMethodDescription: string;
  status: PartnerPaymentStatus;
  /** Redirect the payer's browser here; only with `verificationRequired`. */
  verificationUrl?: string;
  customer: PartnerCustomer;
  siteReference: string;
  /** Reasons of a failure; otherwise empty. */
  errors: ApiErrorItem[];
}

/** One payment as returned by `payment`. Amounts are cents. */
export interface PartnerPaymentDetails {
  /** Your own reference, as sent. */
  reference: string;
  /** The platform's reference: 18 characters. */
  paymentReference: string;
  merchantName: string;
  status: PartnerPaymentStatus;
  /** Masked, e.g. `**** 4242`. */
  paymentMethodLabel: string;
  currencyISOCode: string;
  invoicedAmount: number;
  /** Without the tip. */
  amount: number;
  tipAmount: number;
  /** Including the tip; 0 unless the payment succeeded. */
  processedAmount: number;
  /** Time of the last change. ISO 8601 UTC. */
  modifiedUTCDate: string;
  /** Reasons of a failure; otherwise empty. */
  errors: ApiErrorItem[];
}

/** A user who was registered as a customer of your organisation. */
export interface RegisteredCustomer {
  /** Identifies the customer in the history, and is the `customer.id` of the customer's own payments. */
  customerReference: string;
  userId: string;
  /** Time of the registration. ISO 8601 UTC. */
  createdUTCDate: string;
}

/** A stored card. */
export interface PartnerCard {
  /** Identifies the card when you pay with it or delete it. */
  token: string;
  /** `**** 4242` */
  cardMask: string;
  holderName: string;
  expiryMonth: number;
  expiryYear: number;
  brand: string;
}

export function readPartnerPayment(value: unknown): PartnerPayment {
  const body = readObject(value, 'payment');
  const status = readText(body, 'status');
  if (!STATUSES.includes(status)) throw new MalformedPaymentError('status');
  const optional = ['invoiceReference', 'invoiceExternalReference', 'verificationUrl'] as const;
  return {
    reference: readText(body, 'reference'),
    paymentReference: readText(body, 'paymentReference'),
    merchantName: readText(body, 'merchantName'),
    currencyISOCode: readText(body, 'currencyISOCode'),
    invoicedAmount: readWholeNumber(body, 'invoicedAmount', MAX_AMOUNT_CENTS),
    tipAmount: readWholeNumber(body, 'tipAmount', MAX_AMOUNT_CENTS),
    processedAmount: readWholeNumber(body, 'processedAmount', 2 * MAX_AMOUNT_CENTS),
    paymentUTCDate: readText(body, 'paymentUTCDate'),
    paymentMethodType: readText(body, 'paymentMethodType'),
    paymentMethodDescription: readText(body, 'paymentMethodDescription'),
    status: status as PartnerPaymentStatus,
    customer: readPartnerCustomer(body['customer']),
    siteReference: readText(body, 'siteReference'),
    errors: readErrors(body['errors']),
    ...Object.fromEntries(
      optional.filter((field) => body[field] !== undefined).map((field) => [field, readText(body, field)]),
    ),
  };
}

/** The numbers of the statuses of a single payment, from 1. The history has the same statuses as text. */
const NUMBERED_STATUSES: readonly PartnerPaymentStatus[] = ['success', 'failed', 'verificationRequired', 'processing'];

export function readPartnerPaymentDetails(value: unknown): PartnerPaymentDetails {
  const body = readObject(value, 'payment');
  const status = NUMBERED_STATUSES[readWholeNumber(body, 'status', NUMBERED_STATUSES.length) - 1];
  if (status === undefined) throw new MalformedPaymentError('status');
  return {
    reference: readText(body, 'reference'),
    paymentReference: readText(body, 'paymentReference'),
    merchantName: readText(body, 'merchantName'),
    status,
    paymentMethodLabel: readText(body, 'paymentMethodLabel'),
    currencyISOCode: readText(body, 'currencyISOCode'),
    invoicedAmount: readWholeNumber(body, 'invoicedAmount', MAX_AMOUNT_CENTS),
    amount: readWholeNumber(body, 'amount', MAX_AMOUNT_CENTS),
    tipAmount: readWholeNumber(body, 'tipAmount', MAX_AMOUNT_CENTS),
    processedAmount: readWholeNumber(body, 'processedAmount', 2 * MAX_AMOUNT_CENTS),
    modifiedUTCDate: readText(body, 'modifiedUTCDate'),
    errors: readErrors(body['errors']),
  };
}

export function readRegisteredCustomer(body: Record<string, unknown>): RegisteredCustomer {
  return {
    customerReference: readText(body, 'customerReference'),
    userId: readText(body, 'userId'),
    createdUTCDate: readText(body, 'createdUTCDate'),
  };
}

export function readPartnerCustomer(value: unknown): PartnerCustomer {
  const customer = readObject(value, 'customer');
  return {
    id: readText(customer, 'id'),
    firstName: readText(customer, 'firstName'),
    lastName: readText(customer, 'lastName'),
  };
}

export function readPartnerCard(value: unknown): PartnerCard {
  const body = readObject(value, 'card');
  return {
    token: readText(body, 'token'),
    cardMask: readText(body, 'cardMask'),
    holderName: readText(body, 'holderName'),
    expiryMonth: readWholeNumber(body, 'expiryMonth', 12),
    expiryYear: readWholeNumber(body, 'expiryYear', 9999),
    brand: readText(body, 'brand'),
  };
}
