import { createHash } from 'node:crypto';
import {
  type HostedPaymentNotification,
  type NotificationFields,
  PAYMENT_NOTIFICATION_MEMBERS,
  type PaymentNotification,
} from '@svc/contracts';
import { Webhook } from 'standardwebhooks';
import type { NotificationContent } from '../notifications/notification.js';
import type { SigningKeys } from '../signing-secrets/signing-secrets.js';

export interface SignedNotification {
  /** The body must be sent byte for byte, because the headers contain a signature of the body. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Builds the request of one attempt. The body of a session's notification contains the signature of E3. The headers
 * follow Standard Webhooks (E4). `id` is the same for every attempt (E8). `at` is the time of this attempt.
 */
export function signNotification(
  id: string,
  content: NotificationContent,
  { apiKey, webhookSecrets }: SigningKeys,
  at: Date,
): SignedNotification {
  const body = buildBody(content, apiKey);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Svc-Webhooks/1',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': webhookSecrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
    },
  };
}

/**
 * The signature of E3: lower-case hex SHA-256 of the nine values below, joined by vertical bars. This signature has two
 * weaknesses. Different fields can have the same signature if a field contains a vertical bar, and the time of the
 * request is not signed. The signature in the headers does not have these weaknesses.
 */
export function notificationSignature(fields: NotificationFields, apiKey: string): string {
  const parts = [
    apiKey,
    fields.sessionId,
    String(fields.amount),
    fields.currencyISOCode,
    fields.merchantOrderId,
    fields.paymentReference,
    fields.paymentStatus,
    fields.paymentUTCDate,
    fields.userMessage ?? '',
  ];
  return createHash('sha256').update(parts.join('|')).digest('hex');
}

function buildBody(content: NotificationContent, apiKey: string | null): string {
  if (content.recipient === 'site') return buildNotificationBody(content.fields);
  if (apiKey === null) throw new Error('The notification of a session is signed with an API key.');
  return JSON.stringify(buildSessionBody(content.fields, apiKey));
}

/** Puts the fields in the order of the specification, because jsonb does not keep the order of the fields. */
function buildSessionBody(fields: NotificationFields, apiKey: string): HostedPaymentNotification {
  return {
    signature: notificationSignature(fields, apiKey),
    sessionId: fields.sessionId,
    amount: fields.amount,
    currencyISOCode: fields.currencyISOCode,
    merchantOrderId: fields.merchantOrderId,
    paymentReference: fields.paymentReference,
    paymentStatus: fields.paymentStatus,
    ...(fields.userMessage === undefined ? {} : { userMessage: fields.userMessage }),
    paymentUTCDate: fields.paymentUTCDate,
    status: fields.status,
  };
}

/**
 * Puts the members in a fixed order, because jsonb does not keep their order. The text must be the same for every
 * attempt.
 */
function buildNotificationBody(notification: PaymentNotification): string {
  return JSON.stringify(notification, PAYMENT_NOTIFICATION_MEMBERS);
}
