import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyWebhook } from '../webhooks/verify-webhook.js';
import { forwardCommand, isForwardCommand } from './forward-command.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const listening = ['listen', '--secret', secret, '--forward-to', 'http://localhost:3000/hook'];
const ended = AbortSignal.abort();
let server: Server;
let received: unknown[];
beforeEach(async () => {
  received = [];
  server = createServer((request, answer) => {
    let rawBody = '';
    request.on('data', (chunk: Buffer) => (rawBody += chunk.toString()));
    request.on('end', () => {
      received.push(verifyWebhook({ headers: request.headers, rawBody, secret }));
      answer.writeHead(request.url === '/refuses' ? 500 : 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => void server.close());

async function called(args: readonly string[], environment: Record<string, string> = {}) {
  const lines: string[] = [];
  return { code: await forwardCommand(args, (line) => void lines.push(line), ended, environment), lines };
}
const hook = (path = '') => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

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
])('the command triggers %s %j', async (event, more, expected) => {
  const { code } = await called(['trigger', event, '--secret', secret, '--forward-to', hook(), ...more]);
  expect([code, received]).toEqual([0, [expect.objectContaining(expected)]]);
});

test('a receiver that responds with an error has its own exit code', async () => {
  const environment = { SVC_FORWARD_TO: hook('/refuses'), SVC_WEBHOOK_SECRET: secret };
  const { code, lines } = await called(['trigger', 'payment.succeeded'], environment);
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
  [['trigger', 'payment.failed', '--secret', secret], '--forward-to is missing'],
  [['trigger', 'payment.failed', '--secret', secret, '--forward-to', 'shop'], '--forward-to must be an address'],
  [
    ['trigger', 'payment.failed', '--amount', '1.5', '--secret', secret, '--forward-to', 'http://a'],
    '--amount must be a whole number',
  ],
  [listening, '--api-key is missing'],
  [[...listening, '--api-key', 'svc_live_site_x'], '--api-key must be a key of test mode'],
  [[...listening, '--api-key', 'svc_test_site_x'], '--gateway-url is missing'],
  [['listen', '--nothing'], "Unknown option '--nothing'"],
])('%j is refused with the message: %s', async (args, says) => {
  const { code, lines } = await called(args);
  expect([code, lines[0]]).toEqual([2, expect.stringContaining(says)]);
  expect(lines).toContainEqual(expect.stringContaining('usage: svc-webhook listen'));
});

test('an error of the feed ends the command', async () => {
  const gateway = ['--gateway-url', hook(), '--merchant-id', '1', '--site-id', '2', '--api-key', 'svc_test_site_x'];
  server.removeAllListeners('request').on('request', (_, answer) => answer.writeHead(401).end());
  const lines: string[] = [];
  const code = await forwardCommand(
    [...listening, ...gateway],
    (line) => void lines.push(line),
    new AbortController().signal,
    {},
  );
  expect([code, lines]).toEqual([1, ['401: Unauthorized']]);
});
