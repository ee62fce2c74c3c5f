import type { PaymentSnapshot } from '../../events/payments.js';
import { PaymentStatus } from '../../payment-status.js';
import type { PaymentNotification } from './payment-notification.js';

/** A payment notification built from the payment's event. An event of an earlier release may have no siteReference. */
export type PaymentNotificationFromEvent = Omit<PaymentNotification, 'siteReference'> & {
  readonly siteReference: string | undefined;
};

/**
 * Converts a payment to the merchant's model. Throws for a payment that is not final: merchants receive only final
 * payments.
 */
export function buildPaymentNotification(payment: PaymentSnapshot): PaymentNotificationFromEvent {
  return {
    ...invoiceReferences(payment),
    currencyISOCode: payment.currencyISOCode,
    invoicedAmount: payment.invoicedAmount,
    paymentReference: payment.paymentReference,
    paymentUTCDate: payment.paymentUTCDate,
    tipAmount: payment.tipAmount,
    tenderedAmount: payment.amount + payment.tipAmount,
    siteReference:
      payment.siteReference ?? ('siteReference' in payment.source ? payment.source.siteReference : undefined),
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
  ...payment
}: PaymentSnapshot): Pick<PaymentNotification, 'invoiceReference' | 'invoiceExternalReference'> {
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
