import {
  buildMerchantPayment,
  type MerchantPayment,
  type MerchantRefund,
  type PaymentNotification,
  type PaymentSnapshot,
} from '@svc/contracts';
import { derivedUuid } from '../uuid.js';
import { notificationIdOf } from './notification-id.js';

/** A notification for the webhook and the stream of a site. The id is the `webhook-id` of the webhook. */
export interface IdentifiedNotification {
  /** UUID. Every service derives the same UUID. */
  readonly id: string;
  readonly notification: PaymentNotification;
}

/**
 * Whether the site gets a notification about this state of the payment. Every refund has a notification. The reversal
 * of a second charge of a successful payment has none, because the earlier notification of the payment is still
 * correct.
 */
export function hasNotification({ state, reversedUTCDate }: PaymentSnapshot): boolean {
  return reversedUTCDate === undefined || state !== 'success';
}

/**
 * Whether this state is the outcome of the payment, not a refund or a reversal. Only outcomes are also sent to the
 * notification URL of the session (M6).
 */
export function isPaymentOutcome({ reversedUTCDate, refund }: PaymentSnapshot): boolean {
  return reversedUTCDate === undefined && refund === undefined;
}

/** The notification of a final payment, of its refund or of its reversal. Throws if the payment is not final. */
export function buildPaymentNotification(snapshot: PaymentSnapshot): IdentifiedNotification {
  const payment = buildMerchantPayment(snapshot);
  const refund = findRefund(snapshot, payment);
  return refund
    ? { id: refund.refundReference, notification: { ...payment, type: 'refund', refund } }
    : { id: notificationIdOf(snapshot), notification: { ...payment, type: 'payment' } };
}

function findRefund(
  { refund, reversedUTCDate }: PaymentSnapshot,
  payment: MerchantPayment,
): MerchantRefund | undefined {
  if (refund) {
    const { refundReference, amount, status, createdUTCDate } = refund;
    return { refundReference, amount, status, createdUTCDate };
  }
  return reversedUTCDate === undefined ? undefined : buildReversal(payment, reversedUTCDate);
}

/** A reversal returns the whole charge: the tendered amount without vouchers. */
function buildReversal(
  { paymentReference, tenderedAmount, vouchers }: MerchantPayment,
  createdUTCDate: string,
): MerchantRefund {
  const refundReference = derivedUuid(new Date(createdUTCDate), `reversal of ${paymentReference}`);
  const amount = vouchers.reduce((remainingAmount, voucher) => remainingAmount - voucher.amount, tenderedAmount);
  return { refundReference, amount, status: 'succeeded', createdUTCDate };
}
