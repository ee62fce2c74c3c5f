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
