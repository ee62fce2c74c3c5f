import type { PaymentSnapshot } from '@svc/contracts';
import { derivedUuid } from '../uuid.js';

/**
 * The `webhook-id` of a payment's notification (E8). Derived from constant fields of the payment, because two services send it:
 * webhook-dispatcher to the merchant's endpoint, hosted-gateway in the feed. Sorts by the time when the payment was accepted.
 */
export function notificationIdOf({
  paymentReference,
  paymentUTCDate,
}: Pick<PaymentSnapshot, 'paymentReference' | 'paymentUTCDate'>): string {
  return derivedUuid(new Date(paymentUTCDate), `notification of ${paymentReference}`);
}
