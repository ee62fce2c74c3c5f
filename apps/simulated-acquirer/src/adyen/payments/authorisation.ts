import { randomInt } from 'node:crypto';
import { newPspReference } from '../interface/psp-reference.js';
import {
  type AcquirerResult,
  APPROVED,
  DECLINED,
  EXPIRED_CARD,
  NOT_AUTHENTICATED,
  requestedResult,
} from '../interface/refusal-reasons.js';
import { isExpired } from '../interface/test-cards.js';
import type { PaymentOrder, PaymentRecord, PaymentState, StoredCardRecord } from '../state/records.js';

/** Result of 3D Secure. */
export type Authentication = 'not-offered' | 'passed' | 'failed';

const STATES: Readonly<Record<AcquirerResult['resultCode'], PaymentState>> = {
  Authorised: 'authorised',
  Refused: 'refused',
  Error: 'error',
  Cancelled: 'cancelled-by-risk',
  Received: 'received',
};

/** Authorises or refuses a payment. Returns the payment, and the card that it stores. */
export function authorise(
  order: PaymentOrder,
  authentication: Authentication,
  now: Date,
): { payment: PaymentRecord; storedCard?: StoredCardRecord } {
  const { resultCode, refusalReason, code } = decide(order, authentication, now);
  const isAuthorised = resultCode === 'Authorised';
  const at = now.toISOString();
  const storedCard = isAuthorised && order.storesCard ? newStoredCard(order, at) : undefined;
  const payment: PaymentRecord = {
    kind: 'payment',
    pspReference: newPspReference(),
    order,
    // An automatic capture needs no request, and is not reported by a webhook (documentation: "Capture").
    state: isAuthorised && !order.isManualCapture ? 'captured' : STATES[resultCode],
    ...(isAuthorised ? { authCode: String(randomInt(1_000_000)).padStart(6, '0') } : {}),
    ...(refusalReason === '' ? {} : { refusalReason, refusalReasonCode: code }),
    ...(storedCard ? { newStoredPaymentMethodId: storedCard.id } : {}),
    ...(authentication === 'not-offered' ? {} : { isAuthenticated: authentication === 'passed' }),
    capturedValue: isAuthorised && !order.isManualCapture ? order.amount.value : 0,
    refundedValue: 0,
    at,
  };
  return storedCard ? { payment, storedCard } : { payment };
}

/** Documentation: "Testing result codes and refusal reasons", and "Testing with card holder name" for wrong cards. */
function decide({ card, requestedCode }: PaymentOrder, authentication: Authentication, now: Date): AcquirerResult {
  if (authentication === 'failed') return NOT_AUTHENTICATED;
  if (card.isWrong) return DECLINED;
  const requested = requestedResult(requestedCode, card.holderName);
  if (requested !== APPROVED) return requested;
  return isExpired(card, now) ? EXPIRED_CARD : APPROVED;
}

function newStoredCard(order: PaymentOrder, at: string): StoredCardRecord {
  return {
    kind: 'stored-card',
    id: newPspReference(),
    merchantAccount: order.merchantAccount,
    shopperReference: order.shopperReference!,
    recurringProcessingModel: order.recurringProcessingModel ?? 'CardOnFile',
    card: order.card,
    isDeleted: false,
    at,
  };
}
