import type { HostedPayment, PaymentSnapshot } from '@svc/contracts';

/** A payment that is final; only those are shown to merchants (H3). */
export function isFinal(payment: PaymentSnapshot): boolean {
  return payment.state === 'success' || payment.state === 'failed';
}

/** A final payment as the hosted gateway shows it (H3, H4). */
export function asHostedPayment(payment: PaymentSnapshot): HostedPayment {
  const success = payment.state === 'success';
  return {
    sessionId: payment.source.sessionId,
    amount: payment.amount,
    currencyISOCode: payment.currencyISOCode,
    merchantOrderId: payment.source.merchantOrderId,
    paymentReference: payment.paymentReference,
    paymentStatus: success ? 'Success' : 'Failed',
    ...(success ? {} : { userMessage: payment.errors[0]?.message ?? 'The payment failed.' }),
    paymentUTCDate: payment.paymentUTCDate,
    status: 'Success',
    paymentMethod: payment.paymentMethodLabel,
  };
}
