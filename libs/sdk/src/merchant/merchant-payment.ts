/**
 * Parsers for the main API's responses about a merchant's payments and invoices. They throw an error for invalid
 * content.
 */
import {
  MalformedPaymentError,
  MAX_AMOUNT_CENTS,
  type PaymentStatus,
  readObject,
  readPaymentStatus,
  readText,
  readWholeNumber,
} from '../hosted-payment.js';

/**
 * A final payment of the merchant (specification, "Payment notification"). Look-ups return it, and each
 * {@link PaymentNotification} contains one. Amounts are cents.
 */
export interface MerchantPayment {
  /** The platform's invoice reference; for a hosted payment its sessionId. */
  invoiceReference: string;
  /** The merchant's own reference; for a hosted payment its merchantOrderId. `""` if there is none. */
  invoiceExternalReference: string;
  /** ISO 4217. */
  currencyISOCode: string;
  /** The amount due. */
  invoicedAmount: number;
  /** Service payment id, 18 characters. */
  paymentReference: string;
  /** ISO 8601 UTC with milliseconds. */
  paymentUTCDate: string;
  tipAmount: number;
  /** Total paid, including tip and vouchers. */
  tenderedAmount: number;
  /** Point-of-sale till identifier. */
  siteReference: string;
  status: PaymentStatus;
  vouchers: { merchantLiable: boolean; amount: number }[];
  /** A name that is unknown is `""`. */
  customer: { firstName: string; lastName: string };
  siteId: number;
}

/** A refund that you requested, or an automatic reversal (M6). */
export interface MerchantRefund {
  /** Id of the refund. Apply each id once. */
  refundReference: string;
  /** Cents. */
  amount: number;
  /** `pending`: the bank has not decided. `succeeded` and `failed` are final. */
  status: 'pending' | 'succeeded' | 'failed';
  /** ISO 8601 UTC with milliseconds (C2). */
  createdUTCDate: string;
}

/** A refund with the reference of its payment. */
export interface RefundOfPayment extends MerchantRefund {
  /** Service payment id, 18 characters. */
  paymentReference: string;
}

/**
 * `inquiry`: the payer's bank asks for information. `opened`: a chargeback was announced, and no money has moved.
 * `debited`: the amount was deducted from you. `reversed`: it was returned, and may be deducted again. `won` and `lost`:
 * the decision.
 */
export type DisputeStage = 'inquiry' | 'opened' | 'debited' | 'reversed' | 'won' | 'lost';

/** A dispute of the payer's bank about a payment, after a change (M8). */
export interface MerchantDispute {
  /** Id of the dispute, the same in each of its notifications. */
  disputeReference: string;
  stage: DisputeStage;
  /** Disputed amount in cents: all or a part of the payment. */
  amount: number;
  /** The card scheme's reason code and the acquirer's text; `""` when unknown. */
  reason: string;
  /** Until when you can respond, in the acquirer's customer area. Absent when no response is possible or necessary. */
  respondByUTCDate?: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  createdUTCDate: string;
}

/** A dispute with the reference of its payment. */
export interface DisputeOfPayment extends MerchantDispute {
  /** Service payment id, 18 characters. */
  paymentReference: string;
}

/**
 * A message of the stream or of a site's webhook: a payment became final, or was refunded, reversed or disputed. The stream sends each notification once, in the same order for every reader. The
 * webhook of a site may repeat and reorder notifications.
 */
export type PaymentNotification = {
  /**
   * Id of the notification. In the stream: store it, and pass it as `after` next time. In a webhook: it is the same in every
   * attempt.
   */
  id: string;
  payment: MerchantPayment;
} & ({ type: 'payment' } | { type: 'refund'; refund: MerchantRefund } | { type: 'dispute'; dispute: MerchantDispute });

/** An invoice of the merchant, with the code for the payer. */
export interface MerchantInvoice {
  /** UUID. */
  reference: string;
  externalReference?: string;
  siteReference: string;
  /** ISO 4217. */
  currencyISOCode: string;
  /** Cents. */
  amount: number;
  /** `closed`: paid, closed by you, replaced, or refused after too many failed payments. */
  state: 'open' | 'closed';
  /** Text of the invoice's QR code. */
  code: string;
  /** ISO 8601 UTC (C2). */
  createdUTCDate: string;
  /** Time of expiry. ISO 8601 UTC with milliseconds (C2). */
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
    invoicedAmount: readWholeNumber(body, 'invoicedAmount', MAX_AMOUNT_CENTS),
    paymentReference: readText(body, 'paymentReference'),
    paymentUTCDate: readText(body, 'paymentUTCDate'),
    tipAmount: readWholeNumber(body, 'tipAmount', MAX_AMOUNT_CENTS),
    tenderedAmount: readWholeNumber(body, 'tenderedAmount', 2 * MAX_AMOUNT_CENTS),
    siteReference: readText(body, 'siteReference'),
    status: readPaymentStatus(body, 'status'),
    vouchers: vouchers.map(readVoucher),
    customer: { firstName: readText(customer, 'firstName'), lastName: readText(customer, 'lastName') },
    siteId: readWholeNumber(body, 'siteId', Number.MAX_SAFE_INTEGER),
  };
}

function readVoucher(value: unknown): { merchantLiable: boolean; amount: number } {
  const voucher = readObject(value, 'vouchers');
  const { merchantLiable } = voucher;
  if (typeof merchantLiable !== 'boolean') throw new MalformedPaymentError('merchantLiable');
  return { merchantLiable, amount: readWholeNumber(voucher, 'amount', MAX_AMOUNT_CENTS) };
}

/** Returns undefined for a type of a later release. */
export function readPaymentNotification(id: string, value: unknown): PaymentNotification | undefined {
  const body = readObject(value, 'notification');
  const type = readText(body, 'type');
  if (type === 'payment') return { id, type, payment: readMerchantPayment(body) };
  if (type === 'refund') return { id, type, payment: readMerchantPayment(body), refund: readRefund(body['refund']) };
  if (type === 'dispute')
    return { id, type, payment: readMerchantPayment(body), dispute: readDispute(body['dispute']) };
  return undefined;
}

const REFUND_STATUSES: readonly string[] = ['pending', 'succeeded', 'failed'];

function readRefund(value: unknown): MerchantRefund {
  const body = readObject(value, 'refund');
  const status = readText(body, 'status');
  if (!REFUND_STATUSES.includes(status)) throw new MalformedPaymentError('status');
  return {
    refundReference: readText(body, 'refundReference'),
    amount: readWholeNumber(body, 'amount', 2 * MAX_AMOUNT_CENTS),
    status: status as MerchantRefund['status'],
    createdUTCDate: readText(body, 'createdUTCDate'),
  };
}

export function readRefundOfPayment(value: unknown): RefundOfPayment {
  const body = readObject(value, 'refund');
  return { paymentReference: readText(body, 'svcId'), ...readRefund(body) };
}

const DISPUTE_STAGES: readonly string[] = ['inquiry', 'opened', 'debited', 'reversed', 'won', 'lost'];

function readDispute(value: unknown): MerchantDispute {
  const body = readObject(value, 'dispute');
  const stage = readText(body, 'stage');
  if (!DISPUTE_STAGES.includes(stage)) throw new MalformedPaymentError('stage');
  return {
    disputeReference: readText(body, 'disputeReference'),
    stage: stage as DisputeStage,
    amount: readWholeNumber(body, 'amount', 2 * MAX_AMOUNT_CENTS),
    reason: readText(body, 'reason'),
    ...(body['respondByUTCDate'] === undefined ? {} : { respondByUTCDate: readText(body, 'respondByUTCDate') }),
    createdUTCDate: readText(body, 'createdUTCDate'),
  };
}

export function readDisputeOfPayment(value: unknown): DisputeOfPayment {
  const body = readObject(value, 'dispute');
  return { paymentReference: readText(body, 'svcId'), ...readDispute(body) };
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
    amount: readWholeNumber(body, 'amount', MAX_AMOUNT_CENTS),
    state,
    code: readText(body, 'code'),
    createdUTCDate: readText(body, 'createdUTCDate'),
    expiresUTCDate: readText(body, 'expiresUTCDate'),
  };
}
