import { createHmac, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestService, type TestService } from '@svc/testing';
import { demoShopService } from '../src/index.js';
import { type FakeGateway, startFakeGateway } from './gateway.js';

export const SHOP_URL = 'http://127.0.0.1:7302';
export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

export interface ShopResponse {
  readonly status: number;
  readonly location: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** The shop with its own database and a fake gateway. The methods send the requests of customers and of the platform. */
export interface TestShop extends TestService {
  readonly gateway: FakeGateway;
  readonly credentialsFile: string;
  get(url: string): Promise<ShopResponse>;
  post(url: string, form?: Record<string, string>): Promise<ShopResponse>;
  /** Sends a webhook as the platform does, by default signed at the shop's current time. */
  sendWebhook(payment: Record<string, unknown>, options?: WebhookOptions): Promise<ShopResponse>;
  /** Creates an order by a checkout of one product. Returns the path of the order page, and the session. */
  createOrder(): Promise<{ orderPath: string; sessionId: string; merchantOrderId: string }>;
}

export interface WebhookOptions {
  readonly webhookId?: string;
  readonly secret?: string;
  readonly signedAt?: Date;
  /** Changes the body after it was signed. */
  readonly tamper?: (body: string) => string;
}

export const CREDENTIALS = {
  merchants: [{ merchantId: 1001, sites: [{ siteId: 5001, apiKey: 'sk_test_key', webhookSecret: WEBHOOK_SECRET }] }],
};

export async function startTestShop(): Promise<TestShop> {
  const gateway = await startFakeGateway();
  const folder = await mkdtemp(join(tmpdir(), 'svc-shop-'));
  const credentialsFile = join(folder, 'demo.json');
  await writeFile(credentialsFile, JSON.stringify(CREDENTIALS));
  const testService = await startTestService(demoShopService, {
    env: { SVC_GATEWAY_URL: gateway.url, SVC_SHOP_URL: SHOP_URL, SVC_SHOP_CREDENTIALS_FILE: credentialsFile },
  });

  const call = async (method: 'GET' | 'POST', url: string, headers = {}, payload?: string): Promise<ShopResponse> => {
    const response = await testService.service.app.inject({
      method,
      url,
      headers,
      ...(payload === undefined ? {} : { payload }),
    });
    return {
      status: response.statusCode,
      location: response.headers.location,
      headers: response.headers,
      text: response.body,
    };
  };
  const post = (url: string, form: Record<string, string> = {}): Promise<ShopResponse> =>
    call('POST', url, { 'content-type': 'application/x-www-form-urlencoded' }, new URLSearchParams(form).toString());

  return {
    ...testService,
    gateway,
    credentialsFile,
    get: (url) => call('GET', url),
    post,
    sendWebhook: (
      payment,
      { webhookId = randomUUID(), secret = WEBHOOK_SECRET, signedAt = testService.clock.now(), tamper } = {},
    ) => {
      const body = JSON.stringify(payment);
      const headers = {
        'content-type': 'application/json',
        'webhook-id': webhookId,
        'webhook-timestamp': String(Math.floor(signedAt.getTime() / 1000)),
        'webhook-signature': signWebhook(webhookId, signedAt, body, secret),
      };
      return call('POST', '/webhooks/svc', headers, tamper ? tamper(body) : body);
    },
    createOrder: async () => {
      const { location } = await post('/orders', { checkoutId: randomUUID(), 'quantity-karoo-sunrise': '1' });
      const { body } = gateway.requests.at(-1)!;
      const orderId = new URL(String(body['returnUrl'])).searchParams.get('orderId');
      return {
        orderPath: `/orders/${orderId}`,
        sessionId: new URL(location!).searchParams.get('sessionId')!,
        merchantOrderId: String(body['merchantOrderId']),
      };
    },
    stop: async () => {
      await testService.stop();
      await gateway.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Builds the body of a webhook. */
export function buildPayment(
  order: { sessionId: string; merchantOrderId: string },
  changes: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    sessionId: order.sessionId,
    amount: 12_345,
    currencyISOCode: 'ZAR',
    merchantOrderId: order.merchantOrderId,
    paymentReference: '0QX5M7Y2K9R4T6WABC',
    paymentStatus: 'Success',
    paymentUTCDate: '2026-03-01T10:00:05.000Z',
    status: 'Success',
    signature: 'a'.repeat(64),
    ...changes,
  };
}

/**
 * Signs a webhook as E4 specifies. This implementation is independent of the library that the platform and the shop
 * use.
 */
function signWebhook(webhookId: string, signedAt: Date, body: string, secret: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signedText = `${webhookId}.${Math.floor(signedAt.getTime() / 1000)}.${body}`;
  return `v1,${createHmac('sha256', key).update(signedText).digest('base64')}`;
}
