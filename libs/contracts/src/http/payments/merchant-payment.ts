import type { MerchantDispute, MerchantRefund, PaymentSnapshot, Voucher } from '../../events/payments.js';
import { PaymentStatus } from '../../payment-status.js';

/**
 * A final payment as its merchant sees it: the response to a look-up, and the payment of each {@link PaymentNotification}.
 * The specification calls this model "Payment notification (merchant payment retrieval model)", although look-ups return
 * it too. M1 adds some fields.
 */
export interface MerchantPayment {
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

/** Specification, "Customer (merchant model)". Empty text when unknown (P3). */
export interface MerchantCustomer {
  firstName: string;
  lastName: string;
}

/**
 * A message of a site's webhook and of the stream (M6): a payment became final, or was refunded, reversed or disputed. It
 * contains all fields of the {@link MerchantPayment}, and the event that it reports. `refund` is a refund or a reversal.
 * `dispute` is a dispute after a change (M8).
 */
export type PaymentNotification = MerchantPayment &
  (
    | { readonly type: 'payment' }
    | { readonly type: 'refund'; readonly refund: MerchantRefund }
    | { readonly type: 'dispute'; readonly dispute: MerchantDispute }
  );

/**
 * Converts a payment to the merchant's model. Throws for a payment that is not final: merchants receive only final
 * payments.
 */
export function buildMerchantPayment(payment: PaymentSnapshot): MerchantPayment {
  return {
    ...invoiceReferences(payment),
    currencyISOCode: payment.currencyISOCode,
    invoicedAmount: payment.invoicedAmount,
    paymentReference: payment.paymentReference,
    paymentUTCDate: payment.paymentUTCDate,
    tipAmount: payment.tipAmount,
    tenderedAmount: payment.amount + payment.tipAmount,
    siteReference: payment.siteReference,
    status: finalStatus(payment),
    vouchers: (payment.vouchers ?? []).map(({ merchantLiable, amount }) => ({ merchantLiable, amount })),
    customer: {
      firstName: payment.partner?.customer.firstName ?? '',
      lastName: payment.partner?.customer.lastName ?? '',
    },
    siteId: payment.siteId,
  };
}

function finalStatus({ state }: PaymentSnapshot): PaymentStatus {
  if (state === 'success') return PaymentStatus.Success;
  if (state === 'failed') return PaymentStatus.Failed;
  throw new Error(`A payment that is ${state} is not final.`);
}

/** The references of the invoice. For a hosted payment, they are the sessionId and the merchantOrderId (M1). */
function invoiceReferences({
  source,
}: PaymentSnapshot): Pick<MerchantPayment, 'invoiceReference' | 'invoiceExternalReference'> {
  if (source.kind === 'session')
    return { invoiceReference: source.sessionId, invoiceExternalReference: source.merchantOrderId };
  return { invoiceReference: source.invoiceReference, invoiceExternalReference: source.externalReference ?? '' };
}
