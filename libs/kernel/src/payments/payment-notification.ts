import {
  buildMerchantPayment,
  type DisputeChange,
  type MerchantDispute,
  type MerchantPayment,
  type MerchantRefund,
  type PaymentNotification,
  type PaymentSnapshot,
} from '@svc/contracts';
import { notificationIdOf, returnNotificationIdOf, reversalNotificationIdOf } from './notification-id.js';

/** A notification for the webhook and the stream of a site. The id is the `webhook-id` of the webhook. */
export interface IdentifiedNotification {
  /** UUID. Every service derives the same UUID. */
  readonly id: string;
  readonly notification: PaymentNotification;
}

/**
 * Whether the site gets a notification about this state of the payment. Every refund and every change of a dispute has
 * a notification. The reversal of a second charge of a successful payment has none, because the earlier notification of
 * the payment is still correct.
 */
export function hasNotification({ state, reversedUTCDate, captureFailed }: PaymentSnapshot): boolean {
  return reversedUTCDate === undefined || state !== 'success' || captureFailed === true;
}

/**
 * Whether this state is the outcome of the payment, not a refund, a reversal or a dispute. Only outcomes are also sent to the
 * notification URL of the session (M6).
 */
export function isPaymentOutcome({ reversedUTCDate, refund, dispute }: PaymentSnapshot): boolean {
  return reversedUTCDate === undefined && refund === undefined && dispute === undefined;
}

/** The notification of a final payment, its refund, reversal or dispute. Throws if the payment is not final. */
export function buildPaymentNotification(snapshot: PaymentSnapshot): IdentifiedNotification {
  const payment = buildMerchantPayment(snapshot);
  if (snapshot.dispute) {
    const dispute = pickMerchantDispute(snapshot.dispute);
    return { id: snapshot.dispute.changeReference, notification: { ...payment, type: 'dispute', dispute } };
  }
  const refund = findRefund(snapshot, payment);
  return refund
    ? { id: refundNotificationId(snapshot, refund), notification: { ...payment, type: 'refund', refund } }
    : { id: notificationIdOf(snapshot), notification: { ...payment, type: 'payment' } };
}

/** A refund whose money came back has a second notification, which needs its own id. */
function refundNotificationId({ refund }: PaymentSnapshot, { refundReference }: MerchantRefund): string {
  const returned = refund?.returnedUTCDate;
  return returned === undefined ? refundReference : returnNotificationIdOf(refundReference, returned);
}

function pickMerchantDispute(dispute: DisputeChange): MerchantDispute {
  const { disputeReference, stage, amount, reason, respondByUTCDate, createdUTCDate } = dispute;
  const deadline = respondByUTCDate === undefined ? {} : { respondByUTCDate };
  return { disputeReference, stage, amount, reason, ...deadline, createdUTCDate };
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
  const refundReference = reversalNotificationIdOf(paymentReference, createdUTCDate);
  const amount = vouchers.reduce((remainingAmount, voucher) => remainingAmount - voucher.amount, tenderedAmount);
  return { refundReference, amount, status: 'succeeded', createdUTCDate };
}
