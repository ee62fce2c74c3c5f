import {
  type EventEnvelope,
  type HostedPaymentSnapshot,
  type Mode,
  notificationFields,
  type PaymentSnapshot,
  type PaymentStatusText,
} from '@svc/contracts';
import { derivedUuid, noticeOf, notificationIdOf } from '@svc/kernel';
import { parseEndpoint, type NotificationContent } from '../notifications/notification.js';
import type { SiteWebhook } from '../site-webhooks/find-webhooks.query.js';

/** The parts of an event that are used: a payment that became final, or of which money was returned. */
export type PaymentEvent<Payment = PaymentSnapshot> = Pick<EventEnvelope<Payment>, 'payload' | 'traceparent'>;

/** A notification before it is recorded. */
export type NewNotification = NotificationContent & {
  /** UUID of the row. */
  readonly id: string;
  /** The webhook-id of every attempt (E8). */
  readonly webhookId: string;
  readonly merchantId: number;
  readonly siteId: number;
  readonly mode: Mode;
  /** Absent for a site: notifications of a session supersede each other (E2), those of a site do not (M6). */
  readonly sessionId?: string;
  readonly paymentReference: string;
  readonly paymentStatus: PaymentStatusText;
  readonly url: string;
  readonly endpoint: string;
  readonly traceparent: string | null;
};

/** For the notificationUrl of a payment's session (E2). */
export function sessionNotification(event: PaymentEvent<HostedPaymentSnapshot>): NewNotification {
  const { source } = event.payload;
  const id = notificationIdOf(event.payload);
  return {
    ...commonFields(event, source.notificationUrl),
    id,
    webhookId: id,
    sessionId: source.sessionId,
    recipient: 'session',
    apiVersion: source.apiVersion,
    fields: notificationFields(event.payload),
  };
}

/**
 * For the webhook of a payment's site (M6). The session's notification may have the same webhook-id: the two
 * have different URLs. The row has its own id, which sorts by time like the others.
 */
export function siteNotification(event: PaymentEvent, webhook: SiteWebhook): NewNotification {
  const { id: webhookId, notice } = noticeOf(event.payload, webhook.siteReference);
  const at = notice.type === 'refund' ? notice.refund.createdUTCDate : notice.paymentUTCDate;
  return {
    ...commonFields(event, webhook.url),
    id: derivedUuid(new Date(at), `${webhookId} to the site`),
    webhookId,
    recipient: 'site',
    apiVersion: null,
    fields: notice,
  };
}

function commonFields({ payload: payment, traceparent }: PaymentEvent, url: string) {
  return {
    merchantId: payment.merchantId,
    siteId: payment.siteId,
    mode: payment.mode,
    paymentReference: payment.paymentReference,
    paymentStatus: payment.state === 'success' ? ('Success' as const) : ('Failed' as const),
    url,
    endpoint: parseEndpoint(url),
    traceparent: traceparent ?? null,
  };
}
