/** The security headers of the payment page and of the calls of its script, compared as a whole. */
import { createHash } from 'node:crypto';
import { FindTillInvoiceV1 } from '@svc/contracts';
import type { ReplyEnvelope } from '@svc/messaging';
import { pickSecurityHeaders, SERVICE_SECURITY_HEADERS } from '@svc/testing';
import { type Gateway, type HttpResponse, type Merchant, startGateway } from '../../test/gateway.js';
import { createInvoice, createTill } from '../../test/till-invoices.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

const openPage = (url: string): Promise<HttpResponse> => gateway.call('GET', url, { headers: { accept: 'text/html' } });
const hashOf = (text: string): string => `'sha384-${createHash('sha384').update(text).digest('base64')}'`;

/** The expected headers of a page. The policy allows only the script and the style that the page contains. */
function buildPageHeaders(html: string): Record<string, string> {
  const [style, script] = ['style', 'script'].map((tag) => new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(html)?.[1]);
  return {
    ...SERVICE_SECURITY_HEADERS,
    'content-security-policy': [
      "default-src 'none'",
      `script-src ${script === undefined ? "'none'" : hashOf(script)}`,
      `style-src ${hashOf(style!)}`,
      "connect-src 'self'",
      "img-src 'self' data:",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
      'report-uri /pay/csp-reports',
      'report-to csp',
    ].join('; '),
    'reporting-endpoints': 'csp="/pay/csp-reports"',
    'permissions-policy':
      'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=(), xr-spatial-tracking=()',
    'cache-control': 'no-store',
    'referrer-policy': 'strict-origin',
  };
}

test.each<[string, number, () => Promise<string>]>([
  ['a session', 200, async () => `/pay?sessionId=${await gateway.createSession(merchant)}`],
  ['an invoice', 200, async () => `/c/${(await createInvoice(gateway, merchant)).source.code}`],
  ['a till without an invoice', 200, () => createPathOfTill({ ok: true, reply: {} })],
  ['an unknown session', 404, () => Promise.resolve('/pay?sessionId=1')],
  ['an unknown code', 404, () => Promise.resolve('/C/1')],
  ['an invalid path', 404, () => Promise.resolve('/pay/1')],
  [
    'an unavailable till',
    503,
    () => createPathOfTill({ ok: false, code: 'service.not-ready', message: '', fields: [], retryAfterSeconds: 1 }),
  ],
])('the page of %s (status %d) allows only its own script and style', async (_, status, createPath) => {
  const response = await openPage(await createPath());
  expect([response.status, response.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8']);
  expect(pickSecurityHeaders(response.headers)).toEqual(buildPageHeaders(response.text));
});

async function createPathOfTill(reply: ReplyEnvelope): Promise<string> {
  await gateway.respondTo(FindTillInvoiceV1, () => reply);
  return `/c/${await createTill(gateway, merchant)}`;
}

test.each<[string, (sessionId: string) => Promise<HttpResponse>, string | undefined]>([
  ['the state', (sessionId) => gateway.call('GET', `/pay/${sessionId}/state`), 'no-store'],
  ['an extension', (sessionId) => gateway.call('POST', `/pay/${sessionId}/more-time`), 'no-store'],
  [
    'a rejected payment',
    (sessionId) => gateway.call('POST', `/pay/${sessionId}/payments`, { payload: {} }),
    'no-store',
  ],
  ['a redirect to a code', () => openPage('/C/01234567890123456789'), 'no-store'],
])('the response of %s has the headers of every service, and is not cached', async (_, call, cacheControl) => {
  const { headers } = await call(await gateway.createSession(merchant));
  expect(pickSecurityHeaders(headers)).toEqual({ ...SERVICE_SECURITY_HEADERS, 'cache-control': cacheControl });
});
