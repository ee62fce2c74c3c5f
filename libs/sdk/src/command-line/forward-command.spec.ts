import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HostedPaymentNotification } from '../hosted-payment.js';
import { verifyLegacySignature } from '../webhooks/legacy-signature.js';
import { signTestWebhook } from '../webhooks/signed-webhook.js';
import { verifyWebhook } from '../webhooks/verify-webhook.js';
import { forwardCommand, isForwardCommand } from './forward-command.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const listenArgs = ['listen', '--secret', secret, '--forward-to', 'http://localhost:3000/hook'];
const abortedSignal = AbortSignal.abort();
let server: Server;
let received: unknown[];
beforeEach(async () => {
  received = [];
  server = createServer((request, response) => {
    let rawBody = '';
    request.on('data', (chunk: Buffer) => (rawBody += chunk.toString()));
    request.on('end', () => {
      received.push(verifyWebhook({ headers: request.headers, rawBody, secret }));
      response.writeHead(request.url === '/refuses' ? 500 : 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => void server.close());

async function runCommand(args: readonly string[], environment: Record<string, string> = {}) {
  const lines: string[] = [];
  return { code: await forwardCommand(args, (line) => void lines.push(line), abortedSignal, environment), lines };
}
const receiverUrl = (path = '') => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

test('the commands listen and trigger are distinguished from verify', () => {
  expect([['listen'], ['trigger'], ['verify'], []].map(isForwardCommand)).toEqual([true, true, false, false]);
});

test.each([
  ['payment.succeeded', [], { paymentStatus: 'Success', amount: 12_345 }],
  [
    'payment.failed',
    ['--order', 'A-7', '--amount', '100'],
    { paymentStatus: 'Failed', merchantOrderId: 'A-7', amount: 100 },
  ],
])('the command "trigger %s" with the arguments %j posts the webhook', async (event, args, expected) => {
  const { code } = await runCommand(['trigger', event, '--secret', secret, '--forward-to', receiverUrl(), ...args]);
  expect([code, received]).toEqual([0, [expect.objectContaining(expected)]]);
});

test('the command trigger adds a message for the payer to the webhook of a failed payment only', async () => {
  for (const event of ['payment.failed', 'payment.succeeded'])
    await runCommand(['trigger', event, '--secret', secret, '--forward-to', receiverUrl()]);
  const messages = received.map((webhook) => (webhook as { userMessage?: string }).userMessage);
  expect(messages).toEqual(['The card was declined by the bank.', undefined]);
});

test.each([
  ['of the option', ['--api-key', 'key-1'], { SVC_API_KEY: 'key-2' }, 'key-1'],
  ['of the environment', [], { SVC_API_KEY: 'key-2' }, 'key-2'],
  ['"no key was given" if there is none', [], {}, 'no key was given'],
])('the command trigger creates the older signature with the API key %s', async (_, args, environment, apiKey) => {
  const command = ['trigger', 'payment.succeeded', '--secret', secret, '--forward-to', receiverUrl(), ...args];
  await runCommand(command, environment);
  expect(verifyLegacySignature(received[0] as HostedPaymentNotification, apiKey)).toBe(true);
});

test('the command exits with 1 if the receiver responds with an error', async () => {
  const environment = { SVC_FORWARD_TO: receiverUrl('/refuses'), SVC_WEBHOOK_SECRET: secret };
  const { code, lines } = await runCommand(['trigger', 'payment.succeeded'], environment);
  expect([code, lines]).toEqual([
    1,
    ['Success of 12345 cents for order-1: answered 500, which the platform would try again'],
  ]);
});

test.each([
  [
    ['trigger', 'payment.lost', '--secret', secret, '--forward-to', 'http://a'],
    'Trigger one of payment.succeeded, payment.failed',
  ],
  [
    // A name that every object inherits.
    ['trigger', 'constructor', '--secret', secret, '--forward-to', 'http://a'],
    'Trigger one of payment.succeeded, payment.failed',
  ],
  [['trigger', 'payment.failed', '--secret', secret], '--forward-to is missing'],
  [['trigger', 'payment.failed', '--secret', '', '--forward-to', 'http://a'], '--secret is missing'],
  [['trigger', 'payment.failed', '--secret', secret, '--forward-to', 'shop'], '--forward-to must be an address'],
  [
    ['trigger', 'payment.failed', '--amount', '1.5', '--secret', secret, '--forward-to', 'http://a'],
    '--amount must be a whole number',
  ],
  [listenArgs, '--api-key is missing'],
  [[...listenArgs, '--api-key', 'svc_live_site_x'], '--api-key must be a key of test mode'],
  [[...listenArgs, '--api-key', 'svc_test_site_x'], '--gateway-url is missing'],
  [['listen', '--nothing'], "Unknown option '--nothing'"],
])('the arguments %j are refused with the message: %s', async (args, message) => {
  const { code, lines } = await runCommand(args);
  expect([code, lines[0]]).toEqual([2, expect.stringContaining(message)]);
  expect(lines.slice(1, 3)).toEqual(['', expect.stringMatching(/^usage: svc-webhook listen /)]);
  expect(lines.at(-1)).toContain('Each option can be an environment variable instead');
});

const gatewayArgs = (): string[] => [
  ...['--gateway-url', receiverUrl(), '--merchant-id', '1', '--site-id', '2', '--api-key', 'svc_test_site_x'],
];
const gatewayEnvironment = (): Record<string, string> => ({
  SVC_GATEWAY_URL: receiverUrl(),
  SVC_MERCHANT_ID: '1',
  SVC_SITE_ID: '2',
  SVC_API_KEY: 'svc_test_site_x',
});

test.each([
  ['arguments', () => [...listenArgs, ...gatewayArgs()], () => ({})],
  ['the environment', () => listenArgs, gatewayEnvironment],
])(
  'the command listen gets the site from %s, and ends with 1 if the feed of notifications refuses the key',
  async (_, createArgs, createEnvironment) => {
    let headers: IncomingHttpHeaders = {};
    server.removeAllListeners('request').on('request', (request, response) => {
      ({ headers } = request);
      response.writeHead(401).end();
    });
    const lines: string[] = [];
    const { signal } = new AbortController();
    const code = await forwardCommand(createArgs(), (line) => void lines.push(line), signal, createEnvironment());
    expect([code, lines]).toEqual([1, ['401: Unauthorized']]);
    expect(headers).toMatchObject({ merchantid: '1', merchantsiteid: '2', 'x-api-key': 'svc_test_site_x' });
  },
);

test('the command listen posts new notifications to the receiver, and ends with 0 when it is stopped', async () => {
  const stop = new AbortController();
  const { rawBody } = signTestWebhook({ payment: { merchantOrderId: 'A-7' }, secret });
  const pages = [
    { notifications: [], after: 'a', hasMore: false },
    { notifications: [{ id: 'n-1', notification: JSON.parse(rawBody) as unknown }], after: 'b', hasMore: true },
  ];
  server.prependListener('request', (request) => {
    if (request.url === '/hook') stop.abort();
  });
  const feed = createServer((_, response) => response.end(JSON.stringify(pages.shift())));
  await new Promise<void>((resolve) => feed.listen(0, '127.0.0.1', resolve));
  const feedUrl = `http://127.0.0.1:${(feed.address() as AddressInfo).port}`;
  const args = ['listen', '--secret', secret, '--forward-to', receiverUrl('/hook')];
  const lines: string[] = [];
  const code = await forwardCommand(args, (line) => void lines.push(line), stop.signal, {
    ...gatewayEnvironment(),
    SVC_GATEWAY_URL: feedUrl,
  });
  feed.close();
  expect([code, received]).toEqual([0, [expect.objectContaining({ merchantOrderId: 'A-7' })]]);
  expect(lines.at(-1)).toBe('Success of 12345 cents for A-7: answered 204');
});
