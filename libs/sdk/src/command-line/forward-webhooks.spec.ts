import type { NotificationPage } from '../hosted-gateway/hosted-gateway-client.js';
import type { HostedPayment } from '../hosted-payment.js';
import { verifyWebhook } from '../webhooks/verify-webhook.js';
import { forwardWebhooks, postWebhook } from './forward-webhooks.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const payment = (merchantOrderId: string): HostedPayment => ({
  sessionId: 's-1',
  amount: 12_345,
  currencyISOCode: 'ZAR',
  merchantOrderId,
  paymentReference: '1VQ5K3P0ABCDEFGHJK',
  paymentStatus: 'Success',
  paymentUTCDate: '2026-11-20T18:03:36.123Z',
  status: 'Success',
});

let lines: string[];
let posted: { headers: Record<string, string>; body: string }[];
const answering = (status: number) => (_url: unknown, init: unknown) => {
  posted.push(init as (typeof posted)[number]);
  return Promise.resolve(new Response(null, { status }));
};
const forwarding = (fetch: unknown) => ({
  ...{ forwardTo: 'http://localhost:3000/hook', secret, apiKey: 'svc_test_site_A' },
  write: (line: string) => void lines.push(line),
  fetch: fetch as typeof globalThis.fetch,
});
beforeEach(() => {
  lines = [];
  posted = [];
});

test('a notification is posted with the same signature and id as by the platform', async () => {
  expect(await postWebhook({ id: 'n-1', payment: payment('A-7') }, forwarding(answering(204)))).toBe(true);
  const [{ headers, body }] = posted as [(typeof posted)[number]];
  expect(headers['webhook-id']).toBe('n-1');
  expect(verifyWebhook({ headers, rawBody: body, secret })).toMatchObject({ merchantOrderId: 'A-7', amount: 12_345 });
  expect(lines).toEqual(['Success of 12345 cents for A-7: answered 204']);
});

test.each([
  [answering(500), 'answered 500, which the platform would try again'],
  [
    () => Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })),
    'no answer from http://localhost:3000/hook (connect ECONNREFUSED)',
  ],
])('a failing receiver is reported, and the command continues', async (fetch, says) => {
  expect(await postWebhook({ payment: payment('A-7') }, forwarding(fetch))).toBe(false);
  expect(lines).toEqual([`Success of 12345 cents for A-7: ${says}`]);
});

test('earlier events are skipped; new events are forwarded once, also after the feed was unavailable', async () => {
  const page = (orders: string[], after: string, hasMore = false): NotificationPage => ({
    notifications: orders.map((order) => ({ id: `id of ${order}`, payment: payment(order) })),
    after,
    hasMore,
  });
  const pages: (NotificationPage | Error)[] = [
    page(['old 1'], 'a', true),
    page(['old 2'], 'b'),
    page(['new 1'], 'c', true),
    page(['new 2'], 'd'),
    new Error('503'),
    page(['new 3'], 'e'),
  ];
  const asked: unknown[] = [];
  const ended = new AbortController();
  const client = {
    listNotifications: (after?: string): Promise<NotificationPage> => {
      asked.push(after);
      const next = pages.shift();
      if (pages.length === 0) ended.abort();
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next!);
    },
  };
  await forwardWebhooks(client, { ...forwarding(answering(200)), wait: () => Promise.resolve() }, ended.signal);
  expect(asked).toEqual([undefined, 'a', 'b', 'c', 'd', 'd']);
  expect(posted.map(({ body }) => (JSON.parse(body) as HostedPayment).merchantOrderId)).toEqual([
    'new 1',
    'new 2',
    'new 3',
  ]);
  expect(lines).toContain('The feed cannot be read, trying again: 503');
});
