import type { HostedPaymentSnapshot } from '@svc/contracts';
import { derivedUuid } from '../uuid.js';

/**
 * The `webhook-id` of a payment's notification (E8). It is derived from immutable fields of the payment, so that two
 * services use the same id: webhook-dispatcher for the merchant's endpoint, and hosted-gateway in the feed. The ids
 * sort by the time of the payment.
 */
export function notificationIdOf({
  paymentReference,
  paymentUTCDate,
}: Pick<HostedPaymentSnapshot, 'paymentReference' | 'paymentUTCDate'>): string {
  return derivedUuid(new Date(paymentUTCDate), `notification of ${paymentReference}`);
}

/**
 * The id of the delivery of a notification to the webhook of a site. The session of a payment gets the same
 * notification, but at another address, so the delivery has an id of its own.
 *
 * @param webhookId the `webhook-id` of the notification
 * @param utcDate the time of the payment, the refund, the return of its money, or the change of the dispute
 */
export function siteDeliveryIdOf(webhookId: string, utcDate: string): string {
  return derivedUuid(new Date(utcDate), `${webhookId} to the site`);
}

/** The `webhook-id` of the second notification of a refund, whose money came back. */
export function returnNotificationIdOf(refundReference: string, returnedUTCDate: string): string {
  return derivedUuid(new Date(returnedUTCDate), `return of ${refundReference}`);
}

/** The `webhook-id` of the notification of a reversal, which merchants see as a refund of the whole charge. */
export function reversalNotificationIdOf(paymentReference: string, reversedUTCDate: string): string {
  return derivedUuid(new Date(reversedUTCDate), `reversal of ${paymentReference}`);
}

/** A payment with all that its merchant is notified of. */
interface NotifiedPayment extends Pick<HostedPaymentSnapshot, 'paymentReference' | 'paymentUTCDate'> {
  readonly refunds: readonly {
    readonly refundReference: string;
    readonly createdUTCDate: string;
    readonly returnedUTCDate: string | null;
  }[];
  readonly reversals: readonly { readonly reversedUTCDate: string }[];
  readonly disputeChanges: readonly { readonly changeReference: string; readonly changedUTCDate: string }[];
}

/** The ids of all deliveries that a payment can have, to its session and to its site. Not all of them exist. */
export function listDeliveryIds(payment: NotifiedPayment): string[] {
  const { paymentReference, paymentUTCDate, refunds, reversals, disputeChanges } = payment;
  const webhookId = notificationIdOf(payment);
  return [
    webhookId,
    siteDeliveryIdOf(webhookId, paymentUTCDate),
    ...refunds.flatMap(({ refundReference, createdUTCDate, returnedUTCDate }) => [
      siteDeliveryIdOf(refundReference, createdUTCDate),
      ...(returnedUTCDate === null
        ? []
        : [siteDeliveryIdOf(returnNotificationIdOf(refundReference, returnedUTCDate), returnedUTCDate)]),
    ]),
    ...reversals.map(({ reversedUTCDate }) =>
      siteDeliveryIdOf(reversalNotificationIdOf(paymentReference, reversedUTCDate), reversedUTCDate),
    ),
    ...disputeChanges.map(({ changeReference, changedUTCDate }) => siteDeliveryIdOf(changeReference, changedUTCDate)),
  ];
}
