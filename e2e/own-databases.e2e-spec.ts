/**
 * payment-processor and webhook-dispatcher, the two services that write the most, each have a PostgreSQL server of their own
 * (docs/scaling.md). Payments, refunds, the reconciliation and the ledger work as with one server.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { MerchantClient } from '@svc/sdk';
import { PATIENCE, waitUntil } from '@svc/testing';
import { findPostgres } from '../tools/svc/postgres/postgres-process.ts';
import { createSessions, gatewayClient } from './callers/merchant.js';
import { MerchantEndpoint } from './callers/merchant-endpoint.js';
import { APPROVED, preparePayRequest, sendPayRequest } from './callers/payer.js';
import { Platform } from './platform/platform.js';

const OWN_DATABASES = ['payment-processor', 'webhook-dispatcher'] as const;
const DECLINED = '4000000000000002';

let platform: Platform;
let endpoint: MerchantEndpoint;

beforeAll(async () => {
  const settings = { SVC_OWN_DATABASES: OWN_DATABASES.join(','), SVC_RECONCILIATION_GRACE_MS: '500' };
  platform = await Platform.start('own-databases', settings, 'distributed');
  endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, () => 200);
});
afterAll(async () => {
  await platform?.stop();
  await endpoint?.stop();
});

/** Returns the reference of the payment. */
async function pay(card = APPROVED): Promise<string> {
  const [session] = await createSessions(gatewayClient(platform), 1, endpoint.url);
  const answer = await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(session!.redirectUrl, card));
  expect(answer).toMatchObject({ httpStatus: 200, state: card === APPROVED ? 'succeeded' : 'declined' });
  const [payment] = await gatewayClient(platform).listPayments(session!.sessionId);
  return payment!.paymentReference;
}

async function waitUntilNotified(paymentReference: string): Promise<void> {
  await waitUntil('the webhook of the payment', 60_000, () =>
    Promise.resolve(endpoint.deliveriesOf(paymentReference).length > 0),
  );
}

it('a payment is stored and notified, each in the server of its service', async () => {
  const paymentReference = await pay();
  await waitUntilNotified(paymentReference);
  const countOf = (app: (typeof OWN_DATABASES)[number], table: string): Promise<unknown[]> =>
    platform.sqlOf(app, `SELECT count(*)::int AS count FROM ${table}`);
  expect(await countOf('payment-processor', 'payment_processor.transfers')).toEqual([{ count: 1 }]);
  // The dispatcher records an attempt only after the merchant's answer.
  await waitUntil('the record of the attempt', 60_000, async () => {
    expect(await countOf('webhook-dispatcher', 'webhook_dispatcher.delivery_attempts')).toEqual([{ count: 1 }]);
    return true;
  });
  for (const table of ['payment_processor.transfers', 'webhook_dispatcher.delivery_attempts'])
    expect(await platform.sql('SELECT to_regclass($1) AS found', [table])).toEqual([{ found: null }]);
});

it('the books of all services agree, and the seals of the ledger are valid', async () => {
  const { merchant } = platform.site(0, 0);
  const references = [await pay(), await pay(), await pay(DECLINED)];
  const client = new MerchantClient({
    apiUrl: platform.demo.apiUrl,
    merchantId: merchant.merchantId,
    apiKey: merchant.apiKey,
    timeoutMs: Math.min(60_000 * PATIENCE, 120_000),
  });
  await client.refund(references[0]!, { amount: 500, idempotencyKey: randomUUID() });
  const [counts] = await platform.sqlOf<{ succeeded: string; failed: string }>(
    'payment-processor',
    `SELECT count(*) FILTER (WHERE state = 'success') AS succeeded, count(*) FILTER (WHERE state = 'failed') AS failed
       FROM payment_processor.payments`,
  );
  const row = new RegExp(
    String.raw`^${merchant.merchantId} +test += +${counts!.succeeded} +R \d+\.\d\d +${counts!.failed} +0 +0 +1 +R 5\.00 `,
    'm',
  );
  await waitUntil('a reconciliation of all payments without a difference', 120_000, async () => {
    const { code, output } = await platform.svc('admin', 'reconcile');
    return code === 0 && row.test(output);
  });
  const { code, output } = await platform.svc('admin', 'ledger', 'verify');
  expect([code, output]).toEqual([0, expect.any(String)]);
});

it('while the server of webhook-dispatcher is down, payments succeed, and their webhooks are sent afterwards', async () => {
  const { pid } = findPostgres(join(platform.dataDir, 'databases', 'webhook-dispatcher'))!;
  await platform.kill(pid);
  const paymentReference = await pay();
  expect(endpoint.deliveriesOf(paymentReference)).toEqual([]);
  await platform.up();
  await waitUntilNotified(paymentReference);
  expect(endpoint.deliveriesOf(paymentReference)).toHaveLength(1);
});
