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
