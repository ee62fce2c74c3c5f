/** What the main API tells a merchant of its payments and invoices, read with care: what is not as it should be is an error. */
import {
  MalformedPaymentError,
  MAX_AMOUNT_CENTS,
  type PaymentStatus,
  readObject,
  readPaymentStatus,
  readText,
  readWhole,
} from '../hosted-payment.js';

/** A final payment of the merchant, whoever made it (specification, "Payment notification"). Amounts are cents. */
export interface MerchantPayment {
  /** The service's invoice; of a hosted payment its sessionId. */
  invoiceReference: string;
  /** The merchant's own reference; of a hosted payment its merchantOrderId, `""` where there is none. */
  invoiceExternalReference: string;
  /** ISO 4217. */
  currencyISOCode: string;
  /** What was owed. */
  invoicedAmount: number;
  /** Service payment id, 18 characters. */
  paymentReference: string;
  /** ISO 8601 UTC with milliseconds. */
  paymentUTCDate: string;
  tipAmount: number;
  /** All that the payer gave: tip and vouchers included. */
  tenderedAmount: number;
  /** The till. */
  siteReference: string;
  status: PaymentStatus;
  vouchers: { merchantLiable: boolean; amount: number }[];
  /** `""` where the names are not known. */
  customer: { firstName: string; lastName: string };
  siteId: number;
}

/** Money of a payment that is given back: a refund of yours, or an automatic reversal (M6). */
export interface MerchantRefund {
  /** Names the refund: apply each once. */
  refundReference: string;
  /** Cents. */
  amount: number;
  /** `pending`: the bank has not said. The other two are final; a failed one has given nothing back. */
  status: 'pending' | 'succeeded' | 'failed';
  /** ISO 8601 UTC with milliseconds (C2). */
  createdUTCDate: string;
}

/** A refund with the payment it belongs to. */
export interface RefundOfPayment extends MerchantRefund {
  /** Service payment id, 18 characters. */
  paymentReference: string;
}

/**
 * One final payment or refund. The stream sends each once, in one order for every reader; the webhook of a site may send one
 * again, and in another order.
 */
export type PaymentNotice = {
  /** Of the stream: keep it, and go on `after` it next time. Of a webhook: the same at every try. */
  id: string;
  payment: MerchantPayment;
} & ({ type: 'payment' } | { type: 'refund'; refund: MerchantRefund });

/** An invoice as the merchant made it, and how it is shown to a payer. */
export interface MerchantInvoice {
  /** UUID. */
  reference: string;
  externalReference?: string;
  siteReference: string;
  /** ISO 4217. */
  currencyISOCode: string;
  /** Cents. */
  amount: number;
  /** `closed`: paid, closed, replaced, or refused after too many failed payments. */
  state: 'open' | 'closed';
  /** Text of its QR code. */
  code: string;
  /** ISO 8601 UTC (C2). */
  createdUTCDate: string;
  /** From then on it cannot be paid any more. ISO 8601 UTC with milliseconds (C2). */
  expiresUTCDate: string;
}

export function readMerchantPayment(value: unknown): MerchantPayment {
  const body = readObject(value, 'payment');
  const customer = readObject(body['customer'], 'customer');
  const vouchers = body['vouchers'];
  if (!Array.isArray(vouchers)) throw new MalformedPaymentError('vouchers');
  return {
    invoiceReference: readText(body, 'invoiceReference'),
    invoiceExternalReference: readText(body, 'invoiceExternalReference'),
    currencyISOCode: readText(body, 'currencyISOCode'),
    invoicedAmount: readWhole(body, 'invoicedAmount', MAX_AMOUNT_CENTS),
    paymentReference: readText(body, 'paymentReference'),
    paymentUTCDate: readText(body, 'paymentUTCDate'),
    tipAmount: readWhole(body, 'tipAmount', MAX_AMOUNT_CENTS),
    tenderedAmount: readWhole(body, 'tenderedAmount', 2 * MAX_AMOUNT_CENTS),
    siteReference: readText(body, 'siteReference'),
    status: readPaymentStatus(body, 'status'),
    vouchers: vouchers.map(readVoucher),
    customer: { firstName: readText(customer, 'firstName'), lastName: readText(customer, 'lastName') },
    siteId: readWhole(body, 'siteId', Number.MAX_SAFE_INTEGER),
  };
}

function readVoucher(value: unknown): { merchantLiable: boolean; amount: number } {
  const voucher = readObject(value, 'vouchers');
  const { merchantLiable } = voucher;
  if (typeof merchantLiable !== 'boolean') throw new MalformedPaymentError('merchantLiable');
  return { merchantLiable, amount: readWhole(voucher, 'amount', MAX_AMOUNT_CENTS) };
}

/** Undefined for a type that a later release may tell. */
export function readPaymentNotice(id: string, value: unknown): PaymentNotice | undefined {
  const body = readObject(value, 'notice');
  const type = readText(body, 'type');
  if (type === 'payment') return { id, type, payment: readMerchantPayment(body) };
  if (type === 'refund') return { id, type, payment: readMerchantPayment(body), refund: readRefund(body['refund']) };
  return undefined;
}

const REFUND_STATUSES: readonly string[] = ['pending', 'succeeded', 'failed'];

function readRefund(value: unknown): MerchantRefund {
  const body = readObject(value, 'refund');
  const status = readText(body, 'status');
  if (!REFUND_STATUSES.includes(status)) throw new MalformedPaymentError('status');
  return {
    refundReference: readText(body, 'refundReference'),
    amount: readWhole(body, 'amount', 2 * MAX_AMOUNT_CENTS),
    status: status as MerchantRefund['status'],
    createdUTCDate: readText(body, 'createdUTCDate'),
  };
}

export function readRefundOfPayment(value: unknown): RefundOfPayment {
  const body = readObject(value, 'refund');
  return { paymentReference: readText(body, 'svcId'), ...readRefund(body) };
}

export function readMerchantInvoice(value: unknown): MerchantInvoice {
  const body = readObject(value, 'invoice');
  const state = readText(body, 'state');
  if (state !== 'open' && state !== 'closed') throw new MalformedPaymentError('state');
  return {
    reference: readText(body, 'reference'),
    ...(body['externalReference'] === undefined ? {} : { externalReference: readText(body, 'externalReference') }),
    siteReference: readText(body, 'siteReference'),
    currencyISOCode: readText(body, 'currencyISOCode'),
    amount: readWhole(body, 'amount', MAX_AMOUNT_CENTS),
    state,
    code: readText(body, 'code'),
    createdUTCDate: readText(body, 'createdUTCDate'),
    expiresUTCDate: readText(body, 'expiresUTCDate'),
  };
}
