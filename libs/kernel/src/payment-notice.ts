import {
  type AnyPaymentSnapshot,
  type NoticedRefund,
  type PaymentNotice,
  type PaymentNotification,
  paymentNotificationOf,
} from '@svc/contracts';
import { notificationIdOf } from './notification-id.js';
import { derivedUuid } from './uuid.js';

/** A payment's notice and its id: the `webhook-id` of a site's webhook. */
export interface IdentifiedNotice {
  /** UUID; the same wherever and however often the notice is made. */
  readonly id: string;
  readonly notice: PaymentNotice;
}

/**
 * What is told of a payment as its event has it: that it became final, or of `payment.reversed` that the charge was given
 * back. Throws for a payment that is not final.
 *
 * @param siteReference the till, for a payment of an earlier release whose event does not have it
 */
export function noticeOf(payment: AnyPaymentSnapshot, siteReference = ''): IdentifiedNotice {
  const known = paymentNotificationOf(payment);
  const notification = { ...known, siteReference: known.siteReference ?? siteReference };
  if (payment.reversedUTCDate === undefined)
    return { id: notificationIdOf(payment), notice: { ...notification, type: 'payment' } };
  const refund = reversalOf(notification, payment.reversedUTCDate);
  return { id: refund.refundReference, notice: { ...notification, type: 'refund', refund } };
}

/** A reversal gives the whole charge back, tip included; a payment has at most one. */
function reversalOf({ paymentReference, tenderedAmount }: PaymentNotification, createdUTCDate: string): NoticedRefund {
  const refundReference = derivedUuid(new Date(createdUTCDate), `reversal of ${paymentReference}`);
  return { refundReference, amount: tenderedAmount, status: 'succeeded', createdUTCDate };
}
