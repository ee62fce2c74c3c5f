import {
  buildPaymentNotification,
  type PaymentNotice,
  type PaymentNotification,
  type PaymentSnapshot,
  type RefundNotice,
} from '@svc/contracts';
import { derivedUuid } from '../uuid.js';
import { notificationIdOf } from './notification-id.js';

/** A notice about a payment, for the webhook and the stream of its site. The id is the `webhook-id` of the webhook. */
export interface IdentifiedNotice {
  /** UUID. Every service derives the same UUID. */
  readonly id: string;
  readonly notice: PaymentNotice;
}

/**
 * Whether the site gets a notice about this state of the payment. Every refund has a notice. The reversal of a second
 * charge of a successful payment has no notice, because the earlier notice of the payment is still correct.
 */
export function hasNotice({ state, reversedUTCDate }: PaymentSnapshot): boolean {
  return reversedUTCDate === undefined || state !== 'success';
}

/**
 * Whether this state is the outcome of the payment, not a refund or a reversal. Only outcomes are also sent to the
 * notification URL of the session (M6).
 */
export function isPaymentOutcome({ reversedUTCDate, refund }: PaymentSnapshot): boolean {
  return reversedUTCDate === undefined && refund === undefined;
}

/**
 * The notice of a final payment, of its refund or of its reversal. Throws if the payment is not final.
 *
 * @param siteReference used for an event of an earlier release, which does not contain the site reference
 */
export function noticeOf(payment: PaymentSnapshot, siteReference = ''): IdentifiedNotice {
  const paymentNotification = buildPaymentNotification(payment);
  const notification = { ...paymentNotification, siteReference: paymentNotification.siteReference ?? siteReference };
  if (payment.refund) {
    const { refundReference, amount, status, createdUTCDate } = payment.refund;
    const refund = { refundReference, amount, status, createdUTCDate };
    return { id: refundReference, notice: { ...notification, type: 'refund', refund } };
  }
  if (payment.reversedUTCDate === undefined)
    return { id: notificationIdOf(payment), notice: { ...notification, type: 'payment' } };
  const refund = reversalOf(notification, payment.reversedUTCDate);
  return { id: refund.refundReference, notice: { ...notification, type: 'refund', refund } };
}

/** A reversal returns the whole charge: the tendered amount without vouchers. */
function reversalOf(
  { paymentReference, tenderedAmount, vouchers }: PaymentNotification,
  createdUTCDate: string,
): RefundNotice {
  const refundReference = derivedUuid(new Date(createdUTCDate), `reversal of ${paymentReference}`);
  const amount = vouchers.reduce((remainingAmount, voucher) => remainingAmount - voucher.amount, tenderedAmount);
  return { refundReference, amount, status: 'succeeded', createdUTCDate };
}
