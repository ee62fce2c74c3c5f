import {
  buildPaymentNotification,
  type PaymentNotice,
  type PaymentNotification,
  type PaymentSnapshot,
  type RefundNotice,
} from '@svc/contracts';
import { derivedUuid } from '../uuid.js';
import { notificationIdOf } from './notification-id.js';

/** A payment's notice and its id: the `webhook-id` of a site's webhook. */
export interface IdentifiedNotice {
  /** UUID; every service derives the same one. */
  readonly id: string;
  readonly notice: PaymentNotice;
}

/**
 * Whether the site gets a notice. Every refund has one. The reversal of a second charge of a successful payment has none, because
 * the earlier notice of the payment is still correct.
 */
export function hasNotice({ state, reversedUTCDate }: PaymentSnapshot): boolean {
  return reversedUTCDate === undefined || state !== 'success';
}

/** Whether the notice is the outcome of the payment, and not a refund or reversal: only outcomes are also sent to the session (M6). */
export function isPaymentOutcome({ reversedUTCDate, refund }: PaymentSnapshot): boolean {
  return reversedUTCDate === undefined && refund === undefined;
}

/**
 * The notice of a final payment, of its refund or of its reversal. Throws if the payment is not final.
 *
 * @param siteReference the till, for a payment of an earlier release whose event does not have it
 */
export function noticeOf(payment: PaymentSnapshot, siteReference = ''): IdentifiedNotice {
  const known = buildPaymentNotification(payment);
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

/** A reversal returns the whole charge: the tendered amount without vouchers. */
function reversalOf(
  { paymentReference, tenderedAmount, vouchers }: PaymentNotification,
  createdUTCDate: string,
): RefundNotice {
  const refundReference = derivedUuid(new Date(createdUTCDate), `reversal of ${paymentReference}`);
  const amount = vouchers.reduce((left, voucher) => left - voucher.amount, tenderedAmount);
  return { refundReference, amount, status: 'succeeded', createdUTCDate };
}
