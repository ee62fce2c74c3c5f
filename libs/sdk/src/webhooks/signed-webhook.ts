/** Signed sample webhooks, with which a receiver can be tested without a payment and without the platform. */
import { randomUUID } from 'node:crypto';
import type { HostedPayment } from '../hosted-payment.js';
import { legacySignature } from './legacy-signature.js';
import { createSigner } from './verify-webhook.js';

export interface SignedWebhook {
  headers: { 'content-type': string; 'webhook-id': string; 'webhook-timestamp': string; 'webhook-signature': string };
  /** Post it unchanged: the signature covers these bytes. */
  rawBody: string;
}

/**
 * A payment webhook, signed as the platform signs it (E3, E4). Use it only for tests of your receiver.
 *
 * @param payment fields of the notification; default: a successful payment of R 123.45
 * @param secret the `whsec_…` with which your receiver verifies webhooks
 * @param apiKey for the older `signature` in the body; needed only by receivers that check it
 * @param id the `webhook-id`; use the same id to simulate a repeated delivery
 * @param signedAt time of the signature; default: now. Your receiver should refuse an old time
 */
export function signTestWebhook({
  payment = {},
  secret,
  apiKey = 'no key was given',
  id = randomUUID(),
  signedAt = new Date(),
}: {
  payment?: Partial<HostedPayment>;
  secret: string;
  apiKey?: string;
  id?: string;
  signedAt?: Date;
}): SignedWebhook {
  const body = {
    sessionId: randomUUID(),
    amount: 12_345,
    currencyISOCode: 'ZAR',
    merchantOrderId: 'order-1',
    paymentReference: '1VQ5K3P0ABCDEFGHJK',
    paymentStatus: 'Success' as const,
    paymentUTCDate: signedAt.toISOString(),
    status: 'Success' as const,
    ...payment,
  };
  const rawBody = JSON.stringify({ signature: legacySignature(body, apiKey), ...body });
  return {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(signedAt.getTime() / 1000)),
      'webhook-signature': createSigner(secret).sign(id, signedAt, rawBody),
    },
    rawBody,
  };
}
