import { createHash } from 'node:crypto';
import type { HostedPaymentNotification, NotificationFields } from '@svc/contracts';
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
  return signBody(id, buildBody(content, apiKey), webhookSecrets, at);
}

/** The headers as a list, for messages: a schema allows no unknown names of members. */
export function listHeaders(headers: SignedNotification['headers']): { name: string; value: string }[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }));
}

/** The request with a body: the headers of Standard Webhooks (E4), with one signature of each secret. */
export function signBody(
  id: string,
  body: string,
  webhookSecrets: SigningKeys['webhookSecrets'],
  at: Date,
): SignedNotification {
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

/** The members keep their order, so the body is the same for every attempt. */
function buildBody(content: NotificationContent, apiKey: string | null): string {
  if (content.recipient === 'site') return JSON.stringify(content.fields);
  if (apiKey === null) throw new Error('The notification of a session is signed with an API key.');
  const body: HostedPaymentNotification = {
    signature: notificationSignature(content.fields, apiKey),
    ...content.fields,
  };
  return JSON.stringify(body);
}
