import type { NotificationPage } from '../hosted-gateway/hosted-gateway-client.js';
import type { HostedPayment } from '../hosted-payment.js';
import { verifyWebhook } from '../webhooks/verify-webhook.js';
import { forwardWebhooks, postWebhook } from './forward-webhooks.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const createPayment = (merchantOrderId: string): HostedPayment => ({
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
const fetchWithStatus = (status: number) => (_url: unknown, init: unknown) => {
  posted.push(init as (typeof posted)[number]);
  return Promise.resolve(new Response(null, { status }));
};
const forwardOptions = (fetch: unknown) => ({
  ...{ forwardTo: 'http://localhost:3000/hook', secret, apiKey: 'svc_test_site_A' },
  write: (line: string) => void lines.push(line),
  fetch: fetch as typeof globalThis.fetch,
});
beforeEach(() => {
  lines = [];
  posted = [];
});
afterEach(() => void jest.useRealTimers());

test('a notification is posted with its id and with a valid signature', async () => {
  expect(await postWebhook({ id: 'n-1', payment: createPayment('A-7') }, forwardOptions(fetchWithStatus(204)))).toBe(
    true,
  );
  const [{ headers, body }] = posted as [(typeof posted)[number]];
  expect(headers['webhook-id']).toBe('n-1');
  expect(verifyWebhook({ headers, rawBody: body, secret })).toMatchObject({ merchantOrderId: 'A-7', amount: 12_345 });
  expect(lines).toEqual(['Success of 12345 cents for A-7: answered 204']);
});

test.each([
  [fetchWithStatus(500), 'answered 500, which the platform would try again'],
  [
    () => Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })),
    'no response from http://localhost:3000/hook (connect ECONNREFUSED)',
  ],
])('postWebhook reports a failing receiver, and does not throw', async (fetch, message) => {
  expect(await postWebhook({ payment: createPayment('A-7') }, forwardOptions(fetch))).toBe(false);
  expect(lines).toEqual([`Success of 12345 cents for A-7: ${message}`]);
});

test.each([
  [400, {}, 'order A-7 is unknown', 'order A-7 is unknown'],
  [
    301,
    { location: 'https://shop.example/' },
    '',
    'Redirects are not followed. Use the final address: https://shop.example/',
  ],
  [
    200,
    {},
    ' <!DOCTYPE html><p>Login',
    'The answer is an HTML page, which counts as delivered: check that this is the address of your receiver.',
  ],
])('postWebhook explains an answer with %d', async (status, headers, body, explanation) => {
  const fetch = () => Promise.resolve(new Response(body, { status, headers }));
  await postWebhook({ payment: createPayment('A-7') }, forwardOptions(fetch));
  expect(lines[1]).toBe(explanation);
});

test('a malformed secret is named', async () => {
  const options = { ...forwardOptions(fetchWithStatus(204)), secret: 'foo' };
  await expect(postWebhook({ payment: createPayment('A-7') }, options)).rejects.toThrow(/not whsec_ and base64/);
  const client = { listNotifications: () => Promise.reject(new Error('The feed was read.')) };
  const listening = forwardWebhooks(client, options, new AbortController().signal);
  await expect(listening).rejects.toThrow(/not whsec_ and base64/);
});

test('old notifications are skipped; new ones are forwarded once, even after the feed was unavailable', async () => {
  const createPage = (orders: string[], after: string, hasMore = false): NotificationPage => ({
    notifications: orders.map((order) => ({ id: `id of ${order}`, payment: createPayment(order) })),
    after,
    hasMore,
  });
  const pages: (NotificationPage | Error)[] = [
    createPage(['old 1'], 'a', true),
    createPage(['old 2'], 'b'),
    createPage(['new 1'], 'c', true),
    createPage(['new 2'], 'd'),
    new Error('503'),
    createPage(['new 3'], 'e'),
  ];
  const requestedCursors: unknown[] = [];
  const abort = new AbortController();
  const client = {
    listNotifications: (after?: string): Promise<NotificationPage> => {
      requestedCursors.push(after);
      const next = pages.shift();
      if (pages.length === 0) abort.abort();
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next!);
    },
  };
  const requestsBeforePauses: number[] = [];
  const wait = () => Promise.resolve(void requestsBeforePauses.push(requestedCursors.length));
  await forwardWebhooks(client, { ...forwardOptions(fetchWithStatus(200)), wait }, abort.signal);
  expect(requestedCursors).toEqual([undefined, 'a', 'b', 'c', 'd', 'd']);
  // There is no pause before the next page of a feed that has more pages.
  expect(requestsBeforePauses).toEqual([4, 5, 6]);
  expect(posted.map(({ body }) => (JSON.parse(body) as HostedPayment).merchantOrderId)).toEqual([
    'new 1',
    'new 2',
    'new 3',
  ]);
  expect(lines[0]).toBe('Ready: notifications go to http://localhost:3000/hook. Ctrl+C ends it.');
  expect(lines).toContain('The feed cannot be read, trying again: 503');
});

test('the feed is requested once a second', async () => {
  jest.useFakeTimers();
  const abort = new AbortController();
  const listNotifications = jest.fn((): Promise<NotificationPage> => {
    if (listNotifications.mock.calls.length === 3) abort.abort();
    return Promise.resolve({ notifications: [], after: 'a', hasMore: false });
  });
  const ended = forwardWebhooks({ listNotifications }, forwardOptions(fetchWithStatus(200)), abort.signal);
  await jest.advanceTimersByTimeAsync(999);
  expect(listNotifications).toHaveBeenCalledTimes(2);
  await jest.advanceTimersByTimeAsync(1);
  expect(listNotifications).toHaveBeenCalledTimes(3);
  await jest.advanceTimersByTimeAsync(1_000);
  await ended;
});
