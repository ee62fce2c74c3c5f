/**
 * Sends webhooks through the platform: from an event in payment-processor's log to the merchant's acknowledgement.
 *
 * The events are inserted by a session of this program. No commit of a service wakes the relay for them, so the relay
 * would find them with its next poll, which may be seconds later. Therefore one payment of each request is a real
 * payment: the commit of its event wakes the relay.
 */
import { randomUUID } from 'node:crypto';
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { Payers } from '../hosted-payment/payer.ts';
import { newPlatform, newPlatformAtCommit } from '../platforms/platform.ts';
import type { Merchant, RunningSystem, System } from '../platforms/system.ts';
import { BATCH_SIZE, CONCURRENCY, newPaymentReference, type WebhookSender } from './sender.ts';

const OPTIONS = { settings: { SVC_DELIVERY_CONCURRENCY: String(CONCURRENCY) } };

export const platformSender = newSender(newPlatform('embedded', OPTIONS), 'Svc Payments, embedded');

/** The platform at a commit whose events have the same fields. */
export function newSenderAtCommit(commit: string): WebhookSender {
  return newSender(newPlatformAtCommit(commit, 'embedded', OPTIONS), `Svc Payments, embedded, at ${commit}`);
}

function newSender(platform: System, name: string): WebhookSender {
  return {
    name,
    description:
      'each commit synced; duplicate events ignored, two signatures, every attempt stored, the session updated too',
    start: async () => {
      const running = await platform.start();
      return {
        secret: running.merchant.webhookSecret,
        groups: running.groups,
        send: async (endpoint, count) => {
          const payers = new Payers(running.merchant, endpoint);
          let payment: Promise<unknown> | undefined;
          for (let sent = 1; sent < count; sent += BATCH_SIZE) {
            const length = Math.min(BATCH_SIZE, count - sent);
            await appendEvents(
              running,
              Array.from({ length }, () => newSnapshot(running.merchant, endpoint.url)),
            );
            payment ??= payers.pay(performance.now());
          }
          // A single webhook is the one of the real payment.
          await (payment ?? payers.pay(performance.now()));
          await payers.close();
        },
        stop: () => running.stop(),
      };
    },
  };
}

/** Writes the events that payment-processor appends when a payment succeeds. */
async function appendEvents({ sql }: RunningSystem, payments: readonly HostedPaymentSnapshot[]): Promise<void> {
  const events = payments.map((payload) => ({ id: randomUUID(), aggregate_id: payload.reference, payload }));
  await sql(
    `INSERT INTO payment_processor.event_log (id, type, aggregate_id, aggregate_version, occurred_at, payload)
     SELECT id, 'payment.succeeded.v1', aggregate_id, 2, now(), payload
       FROM jsonb_to_recordset($events$${JSON.stringify(events)}$events$)
         AS event(id uuid, aggregate_id text, payload jsonb)`,
  );
}

function newSnapshot({ merchantId, siteId }: Merchant, notificationUrl: string): HostedPaymentSnapshot {
  const sessionId = randomUUID();
  const now = new Date().toISOString();
  return {
    reference: randomUUID(),
    paymentReference: newPaymentReference(),
    mode: 'test',
    merchantId: Number(merchantId),
    siteId: Number(siteId),
    state: 'success',
    currencyISOCode: 'ZAR',
    invoicedAmount: 12_345,
    amount: 12_345,
    tipAmount: 0,
    processedAmount: 12_345,
    paymentUTCDate: now,
    modifiedUTCDate: now,
    paymentMethodType: 'Card',
    paymentMethodLabel: '**** 4242',
    errors: [],
    source: {
      kind: 'session',
      sessionId,
      apiVersion: 'v3.1',
      merchantOrderId: 'ORDER-1',
      notificationUrl,
      code: '0'.repeat(20),
    },
    payable: { payableId: sessionId, state: 'paid', version: 3, paymentCount: 1 },
    merchantName: 'Merchant',
    siteReference: 'WEB',
  };
}
