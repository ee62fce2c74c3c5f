import type { AnyPaymentSnapshot } from '../events/payments.js';
import { PaymentStatus } from '../payment-status.js';

/**
 * The merchant payment retrieval model (specification, "Payment notification (merchant payment retrieval model)"),
 * with what M1 attaches to it.
 */
export interface PaymentNotification {
  /** Invoice reference of the service. */
  invoiceReference: string;
  /** Merchant's invoice reference; for a hosted payment its merchantOrderId (M1). */
  invoiceExternalReference: string;
  currencyISOCode: string;
  /** Cents. */
  invoicedAmount: number;
  /** Service payment id (C3). */
  paymentReference: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  paymentUTCDate: string;
  /** Cents. */
  tipAmount: number;
  /** Total tendered by the customer, including tips and vouchers; cents. */
  tenderedAmount: number;
  /** Point-of-sale till identifier. */
  siteReference: string;
  /** Number on the wire: 1 = Success, 2 = Failed ({@link PaymentStatus}). */
  status: number;
  vouchers: Voucher[];
  customer: MerchantCustomer;
  siteId: number;
}

/** Specification, "Voucher". */
export interface Voucher {
  merchantLiable: boolean;
  /** Cents. */
  amount: number;
}

/** Specification, "Customer (merchant model)". Empty text when unknown (P3). */
export interface MerchantCustomer {
  firstName: string;
  lastName: string;
}

/** A payment notification as a payment's own event has it: one of an earlier release may not have the till. */
export type PaymentNotificationFromEvent = Omit<PaymentNotification, 'siteReference'> & {
  readonly siteReference: string | undefined;
};

/** Throws for a payment that is not final: merchants receive no other. */
export function paymentNotificationOf(payment: AnyPaymentSnapshot): PaymentNotificationFromEvent {
  return {
    ...invoiceOf(payment),
    currencyISOCode: payment.currencyISOCode,
    invoicedAmount: payment.invoicedAmount,
    paymentReference: payment.paymentReference,
    paymentUTCDate: payment.paymentUTCDate,
    tipAmount: payment.tipAmount,
    tenderedAmount: payment.amount + payment.tipAmount,
    siteReference:
      payment.siteReference ?? ('siteReference' in payment.source ? payment.source.siteReference : undefined),
    status: statusOf(payment),
    vouchers: (payment.vouchers ?? []).map(({ merchantLiable, amount }) => ({ merchantLiable, amount })),
    customer: {
      firstName: payment.partner?.customer.firstName ?? '',
      lastName: payment.partner?.customer.lastName ?? '',
    },
    siteId: payment.siteId,
  };
}

function statusOf({ state }: AnyPaymentSnapshot): PaymentStatus {
  if (state === 'success') return PaymentStatus.Success;
  if (state === 'failed') return PaymentStatus.Failed;
  throw new Error(`A payment that is ${state} is not final.`);
}

/** For a hosted payment the session and its order (M1). */
function invoiceOf({
  source,
  ...payment
}: AnyPaymentSnapshot): Pick<PaymentNotification, 'invoiceReference' | 'invoiceExternalReference'> {
  switch (source.kind) {
    case 'session':
      return { invoiceReference: source.sessionId, invoiceExternalReference: source.merchantOrderId };
    case 'invoice':
      return {
        invoiceReference: source.invoiceReference,
        invoiceExternalReference: source.externalReference ?? '',
      };
    case 'code':
      return {
        invoiceReference: payment.invoiceReference ?? source.invoiceReference ?? '',
        invoiceExternalReference: payment.invoiceExternalReference ?? '',
      };
  }
}
