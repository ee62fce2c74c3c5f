import {
  type EventEnvelope,
  type HostedPaymentSnapshot,
  notificationFields,
  type PaymentSnapshot,
} from '@svc/contracts';
import { buildPaymentNotification, notificationIdOf, siteDeliveryIdOf } from '@svc/kernel';
import { type NewNotification, parseEndpoint } from '../notifications/notification.js';
import type { SiteWebhook } from '../site-webhooks/find-webhooks.query.js';

/** The members that are read from an event. The event reports a final payment, a reversed charge, a refund or a dispute. */
export type PaymentEvent<Payment = PaymentSnapshot> = Pick<EventEnvelope<Payment>, 'payload' | 'traceparent'>;

/** Builds the notification for the notificationUrl of a payment's session (E2). */
export function sessionNotification(event: PaymentEvent<HostedPaymentSnapshot>): NewNotification {
  const { source } = event.payload;
  const id = notificationIdOf(event.payload);
  return {
    ...commonFields(event, source.notificationUrl),
    id,
    webhookId: id,
    sessionId: source.sessionId,
    recipient: 'session',
    type: 'payment',
    apiVersion: source.apiVersion,
    fields: notificationFields(event.payload),
  };
}

/**
 * Builds the notification for the webhook of a payment's site (M6). The notification of the payment's session has the
 * same webhook-id, but goes to another URL. Therefore the id of this row is different from the webhook-id. Ids of rows
 * are ordered by the time of the payment, the refund, the return of its money, or the change of the dispute.
 */
export function siteNotification(event: PaymentEvent, webhook: SiteWebhook): NewNotification {
  const { id: webhookId, notification } = buildPaymentNotification(event.payload);
  const { dispute, refund } = event.payload;
  const refundUTCDate = notification.type === 'refund' ? notification.refund.createdUTCDate : undefined;
  const utcDate = dispute?.changedUTCDate ?? refund?.returnedUTCDate ?? refundUTCDate ?? notification.paymentUTCDate;
  return {
    ...commonFields(event, webhook.url),
    id: siteDeliveryIdOf(webhookId, utcDate),
    webhookId,
    sessionId: null,
    recipient: 'site',
    type: notification.type,
    apiVersion: null,
    // The body begins with its type.
    fields: Object.assign({ type: notification.type }, notification),
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
