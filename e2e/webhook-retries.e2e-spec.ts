/**
 * Webhooks to a merchant's server that fails the first deliveries: retries, signatures, the feed of notifications, and
 * the webhook of a site.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type HostedPaymentNotification, verifyLegacySignature } from '@svc/sdk';
import { HostedGatewayClient } from '@svc/sdk';
import { waitUntil } from '@svc/testing';
import { gatewayClient, newSessionRequest, onboardMerchant } from './callers/merchant.js';
import { MerchantEndpoint } from './callers/merchant-endpoint.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import type { MerchantSite, Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

interface NotificationRow {
  readonly id: string;
  readonly state: string;
  readonly attempt_count: number;
  readonly next_attempt_at: Date | null;
  readonly lease_id: string | null;
}

describe('webhooks', () => {
  let platform: Platform;
  let site: MerchantSite;
  let endpoint: MerchantEndpoint;

  beforeAll(async () => {
    platform = await sharedPlatform('embedded');
    // The test has its own merchant, because the feed of a site has all payments of that site.
    site = await onboardMerchant(platform, 'Webhook Retries');
    // The server fails the first two deliveries of each payment.
    endpoint = await MerchantEndpoint.start(site.webhookSecret, (_, earlierCount) => (earlierCount < 2 ? 500 : 200));
  });
  afterAll(async () => {
    await endpoint?.stop();
  });

  const pay = async (client: HostedGatewayClient): Promise<string> => {
    const { sessionId, redirectUrl } = await client.createSession(newSessionRequest(endpoint.url));
    await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(redirectUrl));
    const [payment] = await client.listPayments(sessionId);
    return payment!.paymentReference;
  };
  const rowOf = async (paymentReference: string): Promise<NotificationRow> => {
    const [row] = await platform.sql<NotificationRow>(
      `SELECT id, state, attempt_count, next_attempt_at, lease_id FROM webhook_dispatcher.notifications WHERE payment_reference = $1`,
      [paymentReference],
    );
    return row!;
  };
  /** Time until the next attempt is due, in seconds after the end of the previous attempt. */
  const scheduledPause = async (paymentReference: string, attemptCount: number): Promise<number> => {
    const row = await waitUntil(`the result of attempt ${attemptCount}`, 20_000, async () => {
      const found = await rowOf(paymentReference);
      return found.attempt_count === attemptCount && found.lease_id === null ? found : undefined;
    });
    const [{ ended }] = (await platform.sql<{ ended: Date }>(
      `SELECT max(started_at + make_interval(secs => duration_ms / 1000.0)) AS ended
       FROM webhook_dispatcher.delivery_attempts WHERE notification_id = $1`,
      [row.id],
    )) as [{ ended: Date }];
    return (row.next_attempt_at!.getTime() - ended.getTime()) / 1000;
  };
  /** Makes the next attempt due, in a later second than the last attempt, because signatures have whole seconds. */
  const makeDue = async (paymentReference: string): Promise<void> => {
    const last = Number(endpoint.deliveriesOf(paymentReference).at(-1)!.headers['webhook-timestamp']);
    await waitUntil('the next second', 5_000, () => Promise.resolve(Date.now() / 1000 >= last + 1));
    await platform.sql(
      `UPDATE webhook_dispatcher.notifications SET next_attempt_at = $2
       WHERE payment_reference = $1 AND state = 'pending' AND lease_id IS NULL`,
      [paymentReference, new Date()],
    );
  };
  const deliveries = (paymentReference: string, count: number): Promise<unknown> =>
    waitUntil(`delivery ${count}`, 20_000, () =>
      Promise.resolve(endpoint.deliveriesOf(paymentReference).length >= count),
    );

  it('an endpoint that answers 500, 500 and 200 gets a webhook three times, with one id and three signatures', async () => {
    const paymentReference = await pay(gatewayClient(platform, site));

    await deliveries(paymentReference, 1);
    const firstPause = await scheduledPause(paymentReference, 1);
    expect(firstPause).toBeGreaterThanOrEqual(3.9);
    expect(firstPause).toBeLessThanOrEqual(6.1);
    await makeDue(paymentReference);
    await deliveries(paymentReference, 2);
    const secondPause = await scheduledPause(paymentReference, 2);
    expect(secondPause).toBeGreaterThanOrEqual(23.9);
    expect(secondPause).toBeLessThanOrEqual(36.1);
    await makeDue(paymentReference);
    await deliveries(paymentReference, 3);
    await waitUntil('the acknowledgement', 20_000, async () => (await rowOf(paymentReference)).state === 'delivered');

    // Another notification passes through the same worker three times, so a fourth attempt of the first notification
    // would be seen.
    const other = await pay(gatewayClient(platform, site));
    for (const count of [1, 2, 3]) {
      await deliveries(other, count);
      if (count < 3) {
        await scheduledPause(other, count);
        await makeDue(other);
      }
    }

    const tries = endpoint.deliveriesOf(paymentReference);
    expect(tries).toHaveLength(3);
    expect(new Set(tries.map(({ webhookId }) => webhookId)).size).toBe(1);
    expect(new Set(tries.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(3);
    expect(new Set(tries.map(({ headers }) => headers['webhook-signature'])).size).toBe(3);
    expect(endpoint.deliveriesOf(other)[0]!.webhookId).not.toBe(tries[0]!.webhookId);
    expect(endpoint.invalidSignatures).toEqual([]);
    expect(await rowOf(paymentReference)).toMatchObject({
      state: 'delivered',
      attempt_count: 3,
      next_attempt_at: null,
    });
    expect(tries[0]!.payment).toMatchObject({
      paymentReference,
      paymentStatus: 'Success',
      amount: 12_345,
      status: 'Success',
    });
  });

  it.each([
    ['v3.1', 'site'],
    ['v3', 'merchant'],
  ] as const)('a webhook of a %s session is also signed with the key of the %s', async (version, owner) => {
    const { siteId, apiKey: siteKey, merchant } = site;
    const { gatewayUrl } = platform.demo;
    const client = new HostedGatewayClient({
      gatewayUrl,
      merchantId: merchant.merchantId,
      siteId,
      apiKey: siteKey,
      version,
    });
    const paymentReference = await pay(client);
    await deliveries(paymentReference, 1);
    const payment: HostedPaymentNotification = endpoint.deliveriesOf(paymentReference)[0]!.payment;
    const [right, wrong] = owner === 'site' ? [siteKey, merchant.apiKey] : [merchant.apiKey, siteKey];
    expect(verifyLegacySignature(payment, right)).toBe(true);
    expect(verifyLegacySignature(payment, wrong)).toBe(false);
  });
  it('a notification is in the feed under the id of its deliveries, and an administrator can resend it', async () => {
    const client = gatewayClient(platform, site);
    const before = await client.listNotifications();
    const paymentReference = await pay(client);
    await deliveries(paymentReference, 1);
    const { webhookId, payment } = endpoint.deliveriesOf(paymentReference)[0]!;
    const { signature: _, ...fields } = payment;
    const [notification] = await waitUntil('the feed', 20_000, async () => {
      const { notifications } = await client.listNotifications(before.after);
      return notifications.length > 0 && notifications;
    });
    expect(notification).toEqual({ id: webhookId, payment: fields });

    const count = endpoint.deliveriesOf(paymentReference).length;
    await waitUntil('a recorded attempt', 20_000, async () => (await rowOf(paymentReference)).lease_id === null);
    expect(await platform.svc('admin', 'webhooks', 'replay', webhookId)).toMatchObject({
      code: 0,
      output: expect.stringMatching(new RegExp(`${webhookId}\\s+status\\s+due`)) as string,
    });
    await deliveries(paymentReference, count + 1);
    expect(new Set(endpoint.deliveriesOf(paymentReference).map((delivery) => delivery.webhookId))).toEqual(
      new Set([webhookId]),
    );
  });

  it('a payment of a site is sent to the webhook address that an administrator has set for the site (M6)', async () => {
    const shop = await onboardMerchant(platform, 'Webhook Of A Site');
    const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
    const backOffice = createServer((request, response) => {
      void text(request).then((body) => {
        received.push({ headers: request.headers, body });
        response.end();
      });
    }).listen(0, '127.0.0.1');
    await once(backOffice, 'listening');
    try {
      const url = `http://127.0.0.1:${(backOffice.address() as AddressInfo).port}/`;
      const owner = `${shop.merchant.merchantId}/${shop.siteId}`;
      expect(await platform.svc('admin', 'sites', 'webhook', owner, url)).toMatchObject({ code: 0 });
      await waitUntil('the dispatcher to know the address', 20_000, async () => {
        const [row] = await platform.sql(
          `SELECT 1 FROM webhook_dispatcher.sites WHERE site_id = $1 AND webhook_enabled`,
          [shop.siteId],
        );
        return row !== undefined;
      });
      const paymentReference = await pay(gatewayClient(platform, shop));
      const { headers, body } = await waitUntil('the webhook', 20_000, () => Promise.resolve(received[0]));
      expect(JSON.parse(body)).toMatchObject({ type: 'payment', status: 1, paymentReference, siteReference: 'ONLINE' });
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
      const key = Buffer.from(shop.webhookSecret.slice('whsec_'.length), 'base64');
      const signature = createHmac('sha256', key).update(signed).digest('base64');
      expect(headers['webhook-signature']).toBe(`v1,${signature}`);
    } finally {
      backOffice.close();
      backOffice.closeAllConnections();
    }
  });
});
