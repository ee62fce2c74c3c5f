/** What the platform would send, for the tests of a receiver: no test needs a payment, or the platform. */
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { HostedPayment } from '../hosted-payment.js';
import { legacySignature } from './legacy-signature.js';

export interface SignedWebhook {
  headers: { 'content-type': string; 'webhook-id': string; 'webhook-timestamp': string; 'webhook-signature': string };
  /** Post it as it is: the signature is made over these bytes. */
  rawBody: string;
}

/**
 * A payment webhook, signed as the platform signs it (E3, E4): for tests of your receiver alone.
 *
 * @param payment what the notification should say; a successful payment of R 123.45 where it says nothing
 * @param secret the `whsec_…` your receiver verifies with
 * @param apiKey what the older `signature` in the body is made with; needed only by receivers that check it
 * @param id the `webhook-id`; the same one again is a repeated delivery
 * @param signedAt now when left out; an old one is refused by your receiver
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
      'webhook-signature': new Webhook(secret).sign(id, signedAt, rawBody),
    },
    rawBody,
  };
}
