/** Administrators set the look of a merchant, and its payers see it. */
import { randomUUID } from 'node:crypto';
import { adminActorId } from '@svc/auth';
import { HostedGatewayAdministeredV1 } from '@svc/contracts';
import { FindTillInvoiceV1 } from '@svc/contracts';
import sharp from 'sharp';
import {
  ADMIN_KEY,
  buildPayment,
  type Gateway,
  type HttpResponse,
  type Merchant,
  startGateway,
} from '../../test/gateway.js';
import { createInvoice, createTill } from '../../test/till-invoices.js';

let gateway: Gateway;
let merchant: Merchant;
let path: string;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(async () => {
  merchant = await gateway.createMerchant();
  path = `/admin/v1/looks/${merchant.merchantId}`;
});
afterAll(() => gateway.stop());

/** Longer than a process uses the looks that it has read. */
const REFRESH_MS = 10_000;
const admin = (
  method: 'GET' | 'PUT' | 'DELETE',
  url: string,
  payload?: unknown,
  headers: Record<string, string> = {},
) => gateway.call(method, url, { headers: { 'x-admin-key': ADMIN_KEY, ...headers }, payload });
const drawLogo = (width = 300, height = 100): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 4, background: { r: 10, g: 125, b: 79, alpha: 0.5 } } })
    .png()
    .toBuffer();
const putLogo = (logo: Buffer, type = 'image/png', url = path): Promise<HttpResponse> =>
  admin('PUT', `${url}/logo`, logo, { 'content-type': type });
const audited = async () =>
  (await gateway.published(HostedGatewayAdministeredV1))
    .map(({ payload }) => payload)
    .filter(({ merchantId }) => merchantId === merchant.merchantId);
async function openSession(owner = merchant): Promise<HttpResponse> {
  const sessionId = await gateway.createSession(owner);
  gateway.clock.advance(REFRESH_MS);
  return gateway.call('GET', `/pay?sessionId=${sessionId}`);
}

const LOOK = {
  accentColour: '#0A7D4F',
  displayName: 'Karoo Coffee & Co',
  supportEmail: 'help@karoo.example',
  supportPhone: '+27 21 555 0100',
  supportUrl: 'https://karoo.example/help',
  termsUrl: 'https://karoo.example/terms',
};
const STORED = { ...LOOK, accentColour: '#0a7d4f' };

test('without the administration key nothing is shown or changed', async () => {
  const keys = [{}, { 'x-admin-key': 'another key for tests, which is as long' }, { 'x-api-key': merchant.siteKey }];
  for (const headers of keys as Record<string, string>[]) {
    const image = { ...headers, 'content-type': 'image/png' };
    const responses = [
      await gateway.call('GET', path, { headers }),
      await gateway.call('PUT', path, { headers, payload: LOOK }),
      await gateway.call('PUT', `${path}/logo`, { headers: image, payload: await drawLogo() }),
      await gateway.call('DELETE', `${path}/logo`, { headers }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  }
  expect((await admin('GET', path)).body).toEqual({ merchantId: merchant.merchantId, version: 0 });
  expect(await audited()).toEqual([]);
});

test('a look is set, shown and in the audit log; the same look again changes nothing', async () => {
  const view = {
    merchantId: merchant.merchantId,
    ...STORED,
    version: 1,
    setUTCDate: gateway.clock.nowISO(),
    setBy: adminActorId(ADMIN_KEY),
  };
  const set = await admin('PUT', path, LOOK);
  expect([set.status, set.body]).toEqual([200, view]);
  expect((await admin('GET', path)).body).toEqual(view);
  expect((await admin('PUT', path, STORED)).body).toEqual(view);
  expect(await audited()).toEqual([
    {
      action: 'merchant-look.set',
      actor: adminActorId(ADMIN_KEY),
      requestId: set.headers['x-request-id'],
      merchantId: merchant.merchantId,
      before: {},
      after: STORED,
    },
  ]);
});

test('a setting that is absent is removed, and the logo stays', async () => {
  await admin('PUT', path, LOOK);
  await putLogo(await drawLogo());
  const { body } = await admin('PUT', path, { displayName: 'Karoo' });
  expect(body).toEqual({
    merchantId: merchant.merchantId,
    displayName: 'Karoo',
    logo: { url: expect.stringMatching(/^https:\/\/pay\.example\/looks\/[0-9a-f]{32}\.png$/), width: 300, height: 100 },
    version: 3,
    setUTCDate: gateway.clock.nowISO(),
    setBy: adminActorId(ADMIN_KEY),
  });
});

test('a look belongs to one merchant', async () => {
  const other = await gateway.createMerchant();
  await admin('PUT', path, LOOK);
  await putLogo(await drawLogo());
  expect((await admin('GET', `/admin/v1/looks/${other.merchantId}`)).body).toEqual({
    merchantId: other.merchantId,
    version: 0,
  });
  const { text } = await openSession(other);
  for (const branded of ['Karoo Coffee', '#0a7d4f', '/looks/', 'class="contact"']) expect(text).not.toContain(branded);
  await admin('DELETE', `/admin/v1/looks/${other.merchantId}/logo`);
  expect((await admin('GET', path)).body.logo).toBeDefined();
});

test.each(['999999999', 'abc', '0', '1e3'])('there is no merchant %s', async (merchantId) => {
  const url = `/admin/v1/looks/${merchantId}`;
  const responses = [
    await admin('PUT', url, LOOK),
    await putLogo(await drawLogo(), 'image/png', url),
    await admin('DELETE', `${url}/logo`),
  ];
  expect(responses.map(({ status }) => status)).toEqual([404, 404, 404]);
});

test.each<[string, Record<string, unknown>, string]>([
  ['a colour by name', { accentColour: 'green' }, 'accentColour must be a colour such as #0a7d4f'],
  ['a colour that ends the style', { accentColour: '#fff}</style>' }, 'accentColour must be'],
  ['an empty name', { displayName: '' }, 'displayName must be text'],
  ['a long name', { displayName: 'x'.repeat(101) }, 'displayName must be text'],
  ['an address with a header', { supportEmail: 'a@b.example\r\nBcc: c@d.example' }, 'supportEmail must be'],
  ['a telephone number with letters', { supportPhone: '021 CALL ME' }, 'supportPhone must be a telephone number'],
  ['a URL with http', { supportUrl: 'http://karoo.example' }, 'supportUrl must be https'],
  ['a URL with a script', { termsUrl: 'javascript:alert(1)' }, 'termsUrl must'],
  ['a URL of loopback', { termsUrl: 'http://localhost/terms' }, 'termsUrl must be https'],
  [
    'a long URL',
    { termsUrl: `https://karoo.example/${'x'.repeat(500)}` },
    'termsUrl must be text of 1 to 500 characters',
  ],
])('refuses %s', async (_name, fields, message) => {
  const { status, text } = await admin('PUT', path, { ...LOOK, ...fields });
  expect([status, text]).toEqual([400, expect.stringContaining(message)]);
  expect((await admin('GET', path)).body.version).toBe(0);
});

test('the page shows colour, name, logo and contact, and its policy allows only this style', async () => {
  await admin('PUT', path, LOOK);
  await putLogo(await drawLogo());
  const { text, headers } = await openSession();
  const logo =
    /<img class="logo" src="(\/looks\/[0-9a-f]{32}\.png)" alt="Karoo Coffee &amp; Co" width="168" height="56"\/>/;
  expect(text).toMatch(logo);
  for (const shown of [
    '--button:#0a7d4f',
    '<title>Pay R 123.45 to Karoo Coffee &amp; Co</title>',
    'Questions? Contact Karoo Coffee &amp; Co:',
    '<a href="mailto:help@karoo.example">help@karoo.example</a>',
    '<a href="tel:+27215550100">+27 21 555 0100</a>',
    '<a href="https://karoo.example/help">Help page</a>',
    '<a href="https://karoo.example/terms">Terms and conditions</a>',
  ])
    expect(text).toContain(shown);
  const styles = [...text.matchAll(/<style>(.*?)<\/style>/gs)].map(([, style]) => style!);
  const policy = String(headers['content-security-policy']);
  expect(styles).toHaveLength(2);
  expect(policy.match(/style-src ([^;]*)/)?.[1]?.split(' ')).toHaveLength(2);
  expect(policy).toContain("img-src 'self' data:; form-action 'none'");
});

test('a look without a colour has no style of its own, and the policy stays as it is', async () => {
  const plain = await openSession(await gateway.createMerchant());
  await admin('PUT', path, { displayName: 'Karoo' });
  const { text, headers } = await openSession();
  expect(text).toContain('<bdi class="merchant-name">Karoo</bdi>');
  expect(text.match(/<style>/g)).toHaveLength(1);
  expect(headers['content-security-policy']).toBe(plain.headers['content-security-policy']);
});

test('the logo is served with an address that never changes', async () => {
  const { body } = await putLogo(await drawLogo());
  const { pathname } = new URL(body.logo.url as string);
  for (let nth = 1; nth <= 2; nth++) {
    const response = await gateway.service.app.inject({ method: 'GET', url: pathname });
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    });
    expect((await sharp(response.rawPayload).metadata()).format).toBe('png');
  }
  for (const unknown of [`/looks/${'0'.repeat(32)}.png`, pathname.replace('.png', ''), '/looks/..%2Flooks', '/looks'])
    expect((await gateway.call('GET', unknown)).status).toBe(404);
});

test('a replaced logo is still served, and a deleted one is not', async () => {
  const first = new URL((await putLogo(await drawLogo(300))).body.logo.url as string).pathname;
  const second = new URL((await putLogo(await drawLogo(200))).body.logo.url as string).pathname;
  expect([(await gateway.call('GET', first)).status, second === first]).toEqual([200, false]);
  const deleted = await admin('DELETE', `${path}/logo`);
  expect([deleted.status, deleted.body.logo]).toEqual([200, undefined]);
  expect((await gateway.call('GET', second)).status).toBe(404);
  expect((await audited()).map(({ action, before, after }) => [action, before, after])).toEqual([
    ['merchant-logo.set', { logo: null }, { logo: expect.objectContaining({ width: 300, height: 100 }) }],
    ['merchant-logo.set', { logo: expect.objectContaining({ width: 300 }) }, { logo: expect.anything() }],
    ['merchant-logo.deleted', { logo: expect.objectContaining({ width: 200 }) }, { logo: null }],
  ]);
  expect((await admin('DELETE', `${path}/logo`)).body.version).toBe(deleted.body.version);
});

test('a deleted logo is served for at most a minute, unless another merchant has the same', async () => {
  const other = await gateway.createMerchant();
  const otherPath = `/admin/v1/looks/${other.merchantId}`;
  const logo = await drawLogo(123);
  const { pathname } = new URL((await putLogo(logo)).body.logo.url as string);
  await putLogo(logo, 'image/png', otherPath);
  const read = async (): Promise<number> => (await gateway.call('GET', pathname)).status;
  expect(await read()).toBe(200);
  await admin('DELETE', `${path}/logo`);
  gateway.clock.advance(60_001);
  expect(await read()).toBe(200);
  await admin('DELETE', `${otherPath}/logo`);
  expect(await read()).toBe(200);
  gateway.clock.advance(60_001);
  expect(await read()).toBe(404);
});

test('the newest ten logos of a merchant are kept', async () => {
  const other = `/admin/v1/looks/${(await gateway.createMerchant()).merchantId}`;
  const kept = new URL((await putLogo(await drawLogo(99, 10), 'image/png', other)).body.logo.url as string).pathname;
  const urls: string[] = [];
  for (let width = 1; width <= 12; width++) {
    urls.push(new URL((await putLogo(await drawLogo(width, 10))).body.logo.url as string).pathname);
    gateway.clock.advance(1_000);
  }
  expect((await gateway.call('GET', kept)).status).toBe(200);
  const statuses = await Promise.all(urls.map(async (url) => (await gateway.call('GET', url)).status));
  expect(statuses).toEqual([404, 404, ...Array.from({ length: 10 }, () => 200)]);
});

test.each<[string, string, () => Promise<Buffer> | Buffer, number, string]>([
  ['SVG', 'image/svg+xml', () => Buffer.from('<svg/>'), 415, 'Send the logo as image/png, image/jpeg or image/webp.'],
  ['JSON', 'application/json', () => Buffer.from('{}'), 415, 'Send the logo as image/png'],
  ['a broken file', 'image/png', () => Buffer.from('not a PNG'), 422, 'The logo cannot be read'],
  ['a file of more than 256 KiB', 'image/png', () => Buffer.alloc(256 * 1024 + 1), 413, 'too large'],
])('refuses %s as logo', async (_name, type, create, status, message) => {
  const response = await putLogo(await create(), type);
  expect([response.status, response.text]).toEqual([status, expect.stringContaining(message)]);
  expect((await admin('GET', path)).body.version).toBe(0);
});

test('other routes refuse an image as before', async () => {
  const headers = { ...merchant.headers, 'content-type': 'image/png' };
  const response = await gateway.call('POST', '/api/v3.1/sessions', { headers, payload: await drawLogo() });
  expect(response.status).toBe(415);
});

test('all pages of a process share one query for looks, which a page does not wait for', async () => {
  await admin('PUT', path, LOOK);
  await openSession();
  const sessionIds = [await gateway.createSession(merchant), await gateway.createSession(merchant)];
  const query = jest.spyOn(gateway.dataSource, 'query');
  const countQueries = (): number => query.mock.calls.filter(([sql]) => sql.includes('FROM merchant_looks')).length;
  for (const sessionId of sessionIds) await gateway.call('GET', `/pay?sessionId=${sessionId}`);
  expect(countQueries()).toBe(0);
  gateway.clock.advance(2_000);
  for (const sessionId of sessionIds) await gateway.call('GET', `/pay?sessionId=${sessionId}`);
  expect(countQueries()).toBe(1);
  query.mockRestore();
});

test('a payer sees a change that another process has committed, and pays without a look if it cannot be read', async () => {
  await admin('PUT', path, { displayName: 'Before' });
  expect((await openSession()).text).toContain('Before');
  await gateway.superuser.query(
    `UPDATE merchant_looks SET display_name = 'After', set_txid = pg_current_xact_id() WHERE merchant_id = $1`,
    [merchant.merchantId],
  );
  expect((await openSession()).text).toContain('After');
  await gateway.superuser.query('ALTER TABLE merchant_looks RENAME TO away');
  const { status, text } = await openSession();
  await gateway.superuser.query('ALTER TABLE away RENAME TO merchant_looks');
  expect([status, text.includes('After')]).toEqual([200, true]);
});

test('the page of an invoice, of its till, of a receipt and of a closed session have the look', async () => {
  await admin('PUT', path, LOOK);
  const invoice = await createInvoice(gateway, merchant);
  await gateway.respondTo(FindTillInvoiceV1, () => ({ ok: true, reply: {} }));
  const till = await createTill(gateway, merchant);
  await gateway.respondToCharges(({ payable, reference }) => ({
    ok: true,
    reply: buildPayment(payable, { reference, version: 3 }),
  }));
  const paid = await gateway.createSession(merchant);
  await gateway.call('POST', `/pay/${paid}/payments`, {
    payload: { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c' },
  });
  const expired = await gateway.createSession(merchant);
  gateway.clock.advance(3_599_000);
  for (const url of [
    `/c/${invoice.source.code}`,
    `/c/${till}`,
    `/pay?sessionId=${paid}`,
    `/pay?sessionId=${expired}`,
  ]) {
    const { text } = await gateway.call('GET', url);
    expect(text).toContain('--button:#0a7d4f');
    expect(text).toContain('Questions? Contact Karoo Coffee &amp; Co:');
  }
});
