import {
  type AnyPaymentSnapshot,
  type RefundNotice,
  type PaymentNotice,
  type PaymentNotification,
  paymentNotificationOf,
} from '@svc/contracts';
import { notificationIdOf } from './notification-id.js';
import { derivedUuid } from '../uuid.js';

/** A payment's notice and its id: the `webhook-id` of a site's webhook. */
export interface IdentifiedNotice {
  /** UUID; the same wherever and however often the notice is made. */
  readonly id: string;
  readonly notice: PaymentNotice;
}

/**
 * Whether a site is told of it. A refund always is. The charge that was given back of a payment which succeeded was a second one: what was told of
 * the payment is still true.
 */
export function hasNotice({ state, reversedUTCDate }: AnyPaymentSnapshot): boolean {
  return reversedUTCDate === undefined || state !== 'success';
}

/** Whether it tells how the payment ended, not that money of it was given back: only then its session is told, too (M6). */
export function isPaymentOutcome({ reversedUTCDate, refund }: AnyPaymentSnapshot): boolean {
  return reversedUTCDate === undefined && refund === undefined;
}

/**
 * The notice of a final payment, or of its refund: the one that it carries, or its reversal. Throws for a payment that is not final.
 *
 * @param siteReference the till, for a payment of an earlier release whose event does not have it
 */
export function noticeOf(payment: AnyPaymentSnapshot, siteReference = ''): IdentifiedNotice {
  const known = paymentNotificationOf(payment);
  const notification = { ...known, siteReference: known.siteReference ?? siteReference };
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

/** A reversal gives back the whole charge: all that was tendered but vouchers. */
function reversalOf(
  { paymentReference, tenderedAmount, vouchers }: PaymentNotification,
  createdUTCDate: string,
): RefundNotice {
  const refundReference = derivedUuid(new Date(createdUTCDate), `reversal of ${paymentReference}`);
  const amount = vouchers.reduce((left, voucher) => left - voucher.amount, tenderedAmount);
  return { refundReference, amount, status: 'succeeded', createdUTCDate };
}
