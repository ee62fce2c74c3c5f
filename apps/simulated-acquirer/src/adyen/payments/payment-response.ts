import type { Card, PaymentOrder, PaymentRecord } from '../state/records.js';

const RESULT_CODES: Readonly<Record<PaymentRecord['state'], string>> = {
  authorised: 'Authorised',
  captured: 'Authorised',
  cancelled: 'Authorised',
  'capture-failed': 'Authorised',
  refused: 'Refused',
  error: 'Error',
  'cancelled-by-risk': 'Cancelled',
  received: 'Received',
};

/** Adyen's PaymentResponse and PaymentDetailsResponse with a result. */
export function paymentResponse(payment: PaymentRecord): object {
  const { order, refusalReason, refusalReasonCode } = payment;
  return {
    additionalData: additionalData(payment),
    pspReference: payment.pspReference,
    resultCode: RESULT_CODES[payment.state],
    ...(refusalReason === undefined ? {} : { refusalReason, refusalReasonCode }),
    amount: order.amount,
    merchantReference: order.reference,
    paymentMethod: { brand: order.card.brand, type: 'scheme' },
  };
}

/** The fields of the OpenAPI document's examples, and those of a new token. */
export function additionalData(payment: PaymentRecord): Record<string, string> {
  const { order, authCode, refusalReason, isAuthenticated, newStoredPaymentMethodId } = payment;
  return {
    ...cardData(order.card),
    merchantReference: order.reference,
    acquirerCode: 'TestPmmAcquirer',
    refusalReasonRaw: authCode === undefined ? `DECLINED : ${refusalReason ?? ''}` : 'AUTHORISED',
    ...(authCode === undefined ? {} : { authCode }),
    ...(isAuthenticated === undefined
      ? { threeDOffered: 'false', threeDAuthenticated: 'false' }
      : { threeDOffered: 'true', threeDAuthenticated: String(isAuthenticated) }),
    ...tokenData(order, newStoredPaymentMethodId),
  };
}

export function cardData({ bin, brand, lastFour, expiryMonth, expiryYear }: Card): Record<string, string> {
  return { cardBin: bin, cardSummary: lastFour, expiryDate: `${expiryMonth}/${expiryYear}`, paymentMethod: brand };
}

/** OpenAPI document of Checkout, example `post-payments-subscription-first-transaction-200`. */
function tokenData(order: PaymentOrder, newId: string | undefined): Record<string, string> {
  const { shopperReference, storedPaymentMethodId } = order;
  const id = newId ?? storedPaymentMethodId;
  if (id === undefined || shopperReference === undefined) return {};
  return {
    'tokenization.shopperReference': shopperReference,
    'tokenization.storedPaymentMethodId': id,
    'tokenization.store.operationType': newId === undefined ? 'alreadyExisting' : 'created',
  };
}
