import { createHash, randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import {
  CardKeyPublishedV1,
  type ChargeCard,
  type HostedPaymentSnapshot,
  PaymentFailedV1,
  PaymentProcessingV1,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { anEvent, inProgress } from '@svc/testing';
import { buildPayment, CARD_KEY, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { SessionRepository } from '../sessions/session.repository.js';
import { PayController } from './pay.controller.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

const getPage = async (sessionId: string): Promise<string> =>
  (await gateway.call('GET', `/pay?sessionId=${sessionId}`)).text;
const pay = (sessionId: string, overrides: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  gateway.call('POST', `/pay/${sessionId}/payments`, {
    headers,
    payload: { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c', ...overrides },
  });
const replyWithPayment = (overrides: Partial<HostedPaymentSnapshot> & { version: number }): Promise<void> =>
  gateway.respondToCharges(({ payable, reference, paymentNumber }) => ({
    ok: true,
    reply: buildPayment(payable, { reference, paymentCount: paymentNumber, ...overrides }),
  }));

test('the page of an open session contains the form and the key for card data, and is not cached', async () => {
  const sessionId = await gateway.createSession(merchant);
  const { status, headers, text } = await gateway.call('GET', `/pay?sessionId=${sessionId}`);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(headers['cache-control']).toBe('no-store');
  for (const shown of [
    'Karoo Books',
    'order-17',
    'R 123.45',
    'The Story of an African Farm',
    'Card number',
    'Expiry date',
    'CVV',
    'Name on card',
  ]) {
    expect(text).toContain(shown);
  }
  expect(text).toContain('&quot;kid&quot;:&quot;k&quot;');
});

describe('error pages:', () => {
  const acceptHtml = { headers: { accept: 'text/html' } };

  test('if the database does not respond, the payer gets an error page after the timeout for building the page', async () => {
    const sessionId = await gateway.createSession(merchant);
    const { app } = gateway.service;
    const [sessions, controller] = [app.get(SessionRepository), app.get(PayController)];
    const find = jest.spyOn(sessions, 'findByAddress').mockReturnValue(new Promise<never>(() => undefined));
    const originalTimeoutMs = controller.pageTimeoutMs;
    controller.pageTimeoutMs = 50;
    const { status, headers, text } = await gateway.call('GET', `/pay?sessionId=${sessionId}`, acceptHtml);
    controller.pageTimeoutMs = originalTimeoutMs;
    expect([status, headers['retry-after'], headers['cache-control']]).toEqual([503, '1', 'no-store']);
    expect(text).toContain('This page is not available at the moment');
    find.mockRestore();
    expect(await getPage(sessionId)).toContain('Card number');
  });

  test('if the connection to the database breaks, a browser gets an error page, and a script gets JSON', async () => {
    const sessionId = await gateway.createSession(merchant);
    const sessions = gateway.service.app.get(SessionRepository);
    const connectionLost = Object.assign(new Error('Connection terminated'), { code: '57P01' });
    const find = jest.spyOn(sessions, 'findByAddress').mockRejectedValue(connectionLost);
    const page = await gateway.call('GET', `/pay?sessionId=${sessionId}`, acceptHtml);
    const state = await gateway.call('GET', `/pay/${sessionId}/state`, { headers: { accept: 'application/json' } });
    find.mockRestore();
    expect([page.status, page.headers['content-type']]).toEqual([503, 'text/html; charset=utf-8']);
    expect([state.status, JSON.parse(state.text)]).toMatchObject([503, { status: 'InternalServer' }]);
  });

  test('a mistyped address gets a page that says that the payment page does not exist', async () => {
    const { status, text } = await gateway.call('GET', '/pay/', acceptHtml);
    expect([status, text]).toEqual([404, expect.stringContaining('This payment page does not exist')]);
  });
});

test('the page contains a newer key for card data at most one second after its event', async () => {
  const sessionId = await gateway.createSession(merchant);
  await getPage(sessionId);
  await gateway.deliver(anEvent(CardKeyPublishedV1, 'card-key', 2, { publicJwk: { ...CARD_KEY, kid: 'newer' } }));
  gateway.clock.advance(1_000);
  expect(await getPage(sessionId)).toContain('&quot;kid&quot;:&quot;newer&quot;');
});

test('script and style of the page are inline and match the hashes of the content security policy, and the page loads no other file', async () => {
  const { text, headers } = await gateway.call('GET', `/pay?sessionId=${await gateway.createSession(merchant)}`);
  for (const tag of ['script', 'style']) {
    const [, content = ''] = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(text) ?? [];
    const hash = createHash('sha384').update(content).digest('base64');
    expect([tag, headers['content-security-policy']]).toEqual([
      tag,
      expect.stringContaining(`${tag}-src 'sha384-${hash}';`),
    ]);
  }
  expect(text).not.toMatch(/<(script|img|iframe)\s|<link rel="(?!icon)/);
});

test.each([
  { accepted: 'br, gzip', encoding: 'gzip' },
  { accepted: 'gzip;q=0, br', encoding: undefined },
  { accepted: undefined, encoding: undefined },
])('the page for Accept-Encoding $accepted has Content-Encoding $encoding', async ({ accepted, encoding }) => {
  const url = `/pay?sessionId=${await gateway.createSession(merchant)}&lang=zu`;
  const get = (headers: Record<string, string>) => gateway.service.app.inject({ method: 'GET', url, headers });
  const response = await get(accepted === undefined ? {} : { 'accept-encoding': accepted });
  const [sent, plain] = [response.rawPayload, (await get({})).rawPayload];
  expect([response.headers['content-encoding'], response.headers['vary']]).toEqual([encoding, 'accept-encoding']);
  expect((encoding === undefined ? sent : gunzipSync(sent)).equals(plain)).toBe(true);
  expect(sent).toHaveLength(Number(response.headers['content-length']));
  // The compressed page has about a third of the size.
  expect(plain.length / sent.length > 2.5).toBe(encoding !== undefined);
});

test.each(['', 'nonsense', randomUUID()])('the page of the unknown session %j has status 404', async (sessionId) => {
  const { status, headers } = await gateway.call('GET', `/pay?sessionId=${sessionId}`);
  expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
});

test('an approved payment redirects the payer to the shop, and the merchant can read it before the page gets the response', async () => {
  const sessionId = await gateway.createSession(merchant);
  await replyWithPayment({ state: 'success', version: 3 });
  const { status, body } = await pay(sessionId);
  expect([status, body]).toEqual([200, { state: 'succeeded', version: 3, redirectUrl: expect.any(String) }]);
  const { payments } = (
    await gateway.call('GET', `/api/v3.1/payments?sessionId=${sessionId}`, { headers: merchant.headers })
  ).body;
  expect(payments).toHaveLength(1);
  const redirectUrl = new URL(body.redirectUrl as string);
  expect(Object.fromEntries(redirectUrl.searchParams)).toEqual({
    lang: 'en',
    sessionId,
    merchantOrderId: 'order-17',
    paymentReference: payments[0].paymentReference,
    paymentStatus: 'Success',
  });
  expect(await getPage(sessionId)).toContain(payments[0].paymentReference);
  gateway.clock.advance(3_600_000);
  expect((await gateway.call('GET', `/pay/${sessionId}/state`)).body.state).toBe('already-paid');
  gateway.clock.advance(-3_600_000);
});

test('the links to the shop keep the text of its URLs, and only add parameters (H6)', async () => {
  const shopUrl = (path: string): string => `https://shop.example/${path}?name=Caf%E9&x=a%20b~c&flag`;
  const urls = { returnUrl: `${shopUrl('r')}&paymentStatus=x#top`, cancelUrl: `${shopUrl('c')}#top` };
  const sessionId = await gateway.createSession(merchant, { ...urls, merchantOrderId: 'order 17' });
  const ids = `sessionId=${sessionId}&merchantOrderId=order%2017`;
  expect((await getPage(sessionId)).replaceAll('&amp;', '&')).toContain(`href="${shopUrl('c')}&${ids}#top"`);
  await replyWithPayment({ state: 'success', version: 3 });
  const { redirectUrl } = (await pay(sessionId)).body;
  const query = `/api/v3.1/payments?sessionId=${sessionId}`;
  const { payments } = (await gateway.call('GET', query, { headers: merchant.headers })).body;
  const outcome = `paymentReference=${payments[0].paymentReference}&paymentStatus=Success`;
  expect(redirectUrl).toBe(`${shopUrl('r')}&${ids}&${outcome}#top`);
  expect((await getPage(sessionId)).replaceAll('&amp;', '&')).toContain(`href="${redirectUrl}"`);
});

test('if the first payment succeeds after the second was declined, the link to the shop reports the success', async () => {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.findPublishedPayable(sessionId);
  const firstPayment = { paymentReference: newPaymentReference(new Date('2026-03-01T10:00:00.000Z')), paymentCount: 1 };
  const secondPayment = { paymentUTCDate: '2026-03-01T10:00:20.000Z', paymentCount: 2 };
  const readShopLinks = async (): Promise<(string | null)[][]> =>
    [...(await getPage(sessionId)).matchAll(/<a [^>]*href="(https:\/\/shop[^"]*)"/g)].map(([, href]) => {
      const { pathname, searchParams } = new URL(href!.replaceAll('&amp;', '&'));
      return [pathname, searchParams.get('paymentStatus'), searchParams.get('paymentReference')];
    });
  await gateway.deliver(
    anEvent(PaymentVerificationRequiredV1, randomUUID(), 2, {
      ...buildPayment(payable, { ...firstPayment, state: 'verificationRequired', version: 3 }),
      payable: { payableId: sessionId, state: 'open', version: 3, paymentCount: 1 },
    }),
  );
  const failed = buildPayment(payable, { ...secondPayment, state: 'failed', version: 5 });
  await gateway.deliver(anEvent(PaymentFailedV1, randomUUID(), 2, failed));
  expect(await readShopLinks()).toEqual([['/cart', 'Failed', failed.paymentReference]]);

  const confirmed = { ...firstPayment, version: 6, paymentCount: 2 };
  const processing = { ...buildPayment(payable, { ...confirmed, state: 'processing' }) };
  await gateway.deliver(anEvent(PaymentProcessingV1, randomUUID(), 3, inProgress(processing)));
  expect(await readShopLinks()).toEqual([]);

  const paid = buildPayment(payable, { ...confirmed, version: 7 });
  await gateway.deliver(anEvent(PaymentSucceededV1, randomUUID(), 4, paid));
  const links = await readShopLinks();
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) expect(link).toEqual(['/return', 'Success', firstPayment.paymentReference]);
});

test('the charge command contains the payable of the session and a deadline, and ignores other fields of the pay request', async () => {
  const sessionId = await gateway.createSession(merchant);
  let receivedCommand: ChargeCard | undefined;
  await gateway.respondToCharges((command) => {
    receivedCommand = command;
    return { ok: true, reply: buildPayment(command.payable, { reference: command.reference, version: 3 }) };
  });
  const reference = randomUUID();
  await pay(sessionId, { reference, amount: 1, payable: { amount: 1 }, payer: { address: '192.0.2.1' } });
  expect(receivedCommand).toEqual({
    payable: await gateway.findPublishedPayable(sessionId),
    reference,
    paymentNumber: 1,
    encryptedCard: 'a.b.c',
    payerReturnUrl: `https://pay.example/pay?sessionId=${sessionId}`,
    payer: { address: '127.0.0.1', browser: { userAgent: 'lightMyRequest' } },
    deadline: gateway.clock.later(15_000).toISOString(),
  });
});

test('after a decline the page shows the form again, with the reason and the next payment', async () => {
  const sessionId = await gateway.createSession(merchant);
  await replyWithPayment({ state: 'failed', version: 3 });
  expect((await pay(sessionId)).body).toMatchObject({ state: 'declined', version: 3 });
  const text = await getPage(sessionId);
  expect(text).toContain('data-payment-number="2"');
  expect(text).toContain('There is not enough money on this card');
});

test('while the result of a payment is unknown, the response is 202, and the page shows processing after a reload', async () => {
  const sessionId = await gateway.createSession(merchant);
  await replyWithPayment({ state: 'processing', version: 2 });
  const { status, body } = await pay(sessionId);
  expect([status, body.state]).toEqual([202, 'processing']);
  expect(await getPage(sessionId)).toContain('data-state="processing"');
});

test('a pay request is rejected with 409 while another payment of the session is in progress', async () => {
  const sessionId = await gateway.createSession(merchant);
  await gateway.respondToCharges(() => ({
    ok: false,
    code: 'payment.in-progress',
    message: 'A payment is already in progress.',
    fields: [],
    retryAfterSeconds: 2,
  }));
  const { status, headers, body } = await pay(sessionId);
  expect([status, headers['retry-after'], body.status]).toEqual([409, '2', 'BadRequest']);
});

test('the page of a session is expired after 30 minutes, but stays processing while a payment is in progress', async () => {
  const [open, processing] = [await gateway.createSession(merchant), await gateway.createSession(merchant)];
  await replyWithPayment({ state: 'processing', version: 2 });
  await pay(processing);
  gateway.clock.advance(30 * 60_000);
  expect(await getPage(open)).toContain('data-state="expired"');
  expect(await getPage(processing)).toContain('data-state="processing"');
  gateway.clock.advance(-30 * 60_000);
});

test('pay requests from other sites, with invalid fields, or for an unknown session are rejected', async () => {
  const sessionId = await gateway.createSession(merchant);
  expect((await pay(sessionId, {}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  for (const invalidFields of [
    { reference: 'x' },
    { paymentNumber: 0 },
    { paymentNumber: '1' },
    { encryptedCard: 'x'.repeat(5000) },
    { encryptedCard: 7 },
  ]) {
    const { status, body } = await pay(sessionId, invalidFields);
    const message = expect.stringMatching(new RegExp(`^${Object.keys(invalidFields)[0]} must `));
    expect([status, body.errors]).toEqual([400, [{ message }]]);
  }
  expect((await pay(randomUUID())).status).toBe(404);
  expect((await gateway.call('GET', `/pay/${randomUUID()}/state`)).status).toBe(404);
});

test('pay requests are rate limited by IP address', async () => {
  const limitedGateway = await startGateway({ SVC_PAYMENTS_PER_MINUTE: '3' });
  try {
    const sessionId = await limitedGateway.createSession(await limitedGateway.createMerchant());
    await limitedGateway.respondToCharges(({ payable, reference }) => ({
      ok: true,
      reply: buildPayment(payable, { reference, version: 3 }),
    }));
    const statuses: number[] = [];
    let retryAfter: unknown;
    for (let count = 0; count < 4; count++) {
      const payload = { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c' };
      const { status, headers } = await limitedGateway.call('POST', `/pay/${sessionId}/payments`, { payload });
      statuses.push(status);
      retryAfter = headers['retry-after'];
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect(Number(retryAfter)).toBeGreaterThan(0);
  } finally {
    await limitedGateway.stop();
  }
});
