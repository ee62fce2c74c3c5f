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
import { anEvent } from '@svc/testing';
import { aPayment, CARD_KEY, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { SessionRepository } from '../sessions/session.repository.js';
import { PayController } from './pay.controller.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.aMerchant();
});
afterAll(() => gateway.stop());

const page = async (sessionId: string): Promise<string> =>
  (await gateway.call('GET', `/pay?sessionId=${sessionId}`)).text;
const press = (sessionId: string, over: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  gateway.call('POST', `/pay/${sessionId}/payments`, {
    headers,
    payload: { reference: randomUUID(), try: 1, encryptedCard: 'a.b.c', ...over },
  });
const endsWith = (over: Partial<HostedPaymentSnapshot> & { version: number }): Promise<void> =>
  gateway.charges(({ payable, reference, try: tries }) => ({
    ok: true,
    reply: aPayment(payable, { reference, tries, ...over }),
  }));

test('the page of an open session has the form, its key and a strict policy, and is not cached', async () => {
  const sessionId = await gateway.createSession(merchant);
  const { status, headers, text } = await gateway.call('GET', `/pay?sessionId=${sessionId}`);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(headers['cache-control']).toBe('no-store');
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  expect(headers['content-security-policy']).not.toContain('unsafe');
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

describe('while the session cannot be read', () => {
  const html = { headers: { accept: 'text/html' } };

  test('because the database does not respond, a page says so within its deadline, and retries', async () => {
    const sessionId = await gateway.createSession(merchant);
    const { app } = gateway.service;
    const [sessions, controller] = [app.get(SessionRepository), app.get(PayController)];
    const find = jest.spyOn(sessions, 'findByAddress').mockReturnValue(new Promise<never>(() => undefined));
    const { pageMilliseconds } = controller;
    controller.pageMilliseconds = 50;
    const { status, headers, text } = await gateway.call('GET', `/pay?sessionId=${sessionId}`, html);
    controller.pageMilliseconds = pageMilliseconds;
    expect([status, headers['retry-after'], headers['cache-control']]).toEqual([503, '1', 'no-store']);
    expect(text).toContain('This page is not available at the moment');
    find.mockRestore();
    expect(await page(sessionId)).toContain('Card number');
  });

  test('because the database is unavailable, the page is the same; a script gets JSON', async () => {
    const sessionId = await gateway.createSession(merchant);
    const sessions = gateway.service.app.get(SessionRepository);
    const lost = Object.assign(new Error('Connection terminated'), { code: '57P01' });
    const find = jest.spyOn(sessions, 'findByAddress').mockRejectedValue(lost);
    const page = await gateway.call('GET', `/pay?sessionId=${sessionId}`, html);
    const state = await gateway.call('GET', `/pay/${sessionId}/state`, { headers: { accept: 'application/json' } });
    find.mockRestore();
    expect([page.status, page.headers['content-type']]).toEqual([503, 'text/html; charset=utf-8']);
    expect([state.status, JSON.parse(state.text)]).toMatchObject([503, { status: 'InternalServer' }]);
  });

  test('a mistyped address of the page also gets a page', async () => {
    const { status, text } = await gateway.call('GET', '/pay/', html);
    expect([status, text]).toEqual([404, expect.stringContaining('This payment page does not exist')]);
  });
});

test('a newer key for card data is on the page within a second', async () => {
  const sessionId = await gateway.createSession(merchant);
  await page(sessionId);
  await gateway.deliver(anEvent(CardKeyPublishedV1, 'card-key', 2, { publicJwk: { ...CARD_KEY, kid: 'newer' } }));
  gateway.clock.advance(1_000);
  expect(await page(sessionId)).toContain('&quot;kid&quot;:&quot;newer&quot;');
});

test('its script and its style are inline and match its policy; nothing else is loaded', async () => {
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
  ['br, gzip', 'gzip'],
  ['gzip;q=0, br', undefined],
  [undefined, undefined],
])('a browser that accepts %s gets the same page as %s', async (accepted, encoding) => {
  const url = `/pay?sessionId=${await gateway.createSession(merchant)}&lang=zu`;
  const get = (headers: Record<string, string>) => gateway.service.app.inject({ method: 'GET', url, headers });
  const answer = await get(accepted === undefined ? {} : { 'accept-encoding': accepted });
  const [sent, plain] = [answer.rawPayload, (await get({})).rawPayload];
  expect([answer.headers['content-encoding'], answer.headers['vary']]).toEqual([encoding, 'accept-encoding']);
  expect((encoding === undefined ? sent : gunzipSync(sent)).equals(plain)).toBe(true);
  expect(sent).toHaveLength(Number(answer.headers['content-length']));
  // A third of the size if compressed.
  expect(plain.length / sent.length > 2.5).toBe(encoding !== undefined);
});

test.each(['', 'nonsense', randomUUID()])('the page of the unknown session %j has status 404', async (sessionId) => {
  const { status, headers } = await gateway.call('GET', `/pay?sessionId=${sessionId}`);
  expect([status, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
});

test('the payment is approved: the merchant can read it before the page gets its response, which redirects to the shop', async () => {
  const sessionId = await gateway.createSession(merchant);
  await endsWith({ state: 'success', version: 3 });
  const { status, body } = await press(sessionId);
  expect([status, body]).toEqual([200, { state: 'succeeded', version: 3, redirectUrl: expect.any(String) }]);
  const { payments } = (
    await gateway.call('GET', `/api/v3.1/payments?sessionId=${sessionId}`, { headers: merchant.headers })
  ).body;
  expect(payments).toHaveLength(1);
  const back = new URL(body.redirectUrl as string);
  expect(Object.fromEntries(back.searchParams)).toEqual({
    lang: 'en',
    sessionId,
    merchantOrderId: 'order-17',
    paymentReference: payments[0].paymentReference,
    paymentStatus: 'Success',
  });
  expect(await page(sessionId)).toContain(payments[0].paymentReference);
  gateway.clock.advance(3_600_000);
  expect((await gateway.call('GET', `/pay/${sessionId}/state`)).body.state).toBe('already-paid');
  gateway.clock.advance(-3_600_000);
});

test('the first attempt succeeds after the second was declined: the link to the returnUrl contains Success', async () => {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.payableOf(sessionId);
  const verified = { paymentReference: newPaymentReference(new Date('2026-03-01T10:00:00.000Z')), tries: 1 };
  const declined = { paymentUTCDate: '2026-03-01T10:00:20.000Z', tries: 2 };
  const linksOf = async (): Promise<(string | null)[][]> =>
    [...(await page(sessionId)).matchAll(/<a [^>]*href="(https:\/\/shop[^"]*)"/g)].map(([, href]) => {
      const { pathname, searchParams } = new URL(href!.replaceAll('&amp;', '&'));
      return [pathname, searchParams.get('paymentStatus'), searchParams.get('paymentReference')];
    });
  await gateway.deliver(
    anEvent(PaymentVerificationRequiredV1, randomUUID(), 2, {
      ...aPayment(payable, { ...verified, state: 'verificationRequired', version: 3 }),
      payable: { payableId: sessionId, state: 'open', version: 3, tries: 1 },
    }),
  );
  const failed = aPayment(payable, { ...declined, state: 'failed', version: 5 });
  await gateway.deliver(anEvent(PaymentFailedV1, randomUUID(), 2, failed));
  expect(await linksOf()).toEqual([['/cart', 'Failed', failed.paymentReference]]);

  const confirmed = { ...verified, version: 6, tries: 2, paymentReference: verified.paymentReference };
  const underWay = { ...aPayment(payable, { ...confirmed, state: 'processing' }) };
  await gateway.deliver(anEvent(PaymentProcessingV1, randomUUID(), 3, underWay));
  expect(await linksOf()).toEqual([]);

  const paid = aPayment(payable, { ...confirmed, version: 7 });
  await gateway.deliver(anEvent(PaymentSucceededV1, randomUUID(), 4, paid));
  const links = await linksOf();
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) expect(link).toEqual(['/return', 'Success', verified.paymentReference]);
});

test('the charge contains the payable of the session and a deadline', async () => {
  const sessionId = await gateway.createSession(merchant);
  let seen: ChargeCard | undefined;
  await gateway.charges((command) => {
    seen = command;
    return { ok: true, reply: aPayment(command.payable, { reference: command.reference, version: 3 }) };
  });
  const reference = randomUUID();
  await press(sessionId, { reference, amount: 1, payable: { amount: 1 }, payer: { address: '192.0.2.1' } });
  expect(seen).toEqual({
    payable: await gateway.payableOf(sessionId),
    reference,
    try: 1,
    encryptedCard: 'a.b.c',
    payerReturnUrl: `https://pay.example/pay?sessionId=${sessionId}`,
    payer: { address: '127.0.0.1', browser: { userAgent: 'lightMyRequest' } },
    deadline: gateway.clock.later(15_000).toISOString(),
  });
});

test('the card is declined: the page shows the form again, with the reason and the next attempt', async () => {
  const sessionId = await gateway.createSession(merchant);
  await endsWith({ state: 'failed', version: 3 });
  expect((await press(sessionId)).body).toMatchObject({ state: 'declined', version: 3 });
  const text = await page(sessionId);
  expect(text).toContain('data-try="2"');
  expect(text).toContain('There is not enough money on this card');
});

test('the result is unknown: 202, and the page shows processing after a reload', async () => {
  const sessionId = await gateway.createSession(merchant);
  await endsWith({ state: 'processing', version: 2 });
  const { status, body } = await press(sessionId);
  expect([status, body.state]).toEqual([202, 'processing']);
  expect(await page(sessionId)).toContain('data-state="processing"');
});

test('the payment is rejected: another payer was first', async () => {
  const sessionId = await gateway.createSession(merchant);
  await gateway.charges(() => ({
    ok: false,
    code: 'payment.in-progress',
    message: 'A payment is already in progress.',
    fields: [],
    retryAfterSeconds: 2,
  }));
  const { status, headers, body } = await press(sessionId);
  expect([status, headers['retry-after'], body.status]).toEqual([409, '2', 'BadRequest']);
});

test('the session has expired: no payment is possible, but a payment in progress may still finish', async () => {
  const [open, processing] = [await gateway.createSession(merchant), await gateway.createSession(merchant)];
  await endsWith({ state: 'processing', version: 2 });
  await press(processing);
  gateway.clock.advance(30 * 60_000);
  expect(await page(open)).toContain('data-state="expired"');
  expect(await page(processing)).toContain('data-state="processing"');
  gateway.clock.advance(-30 * 60_000);
});

test('only our own page may send pay requests, and only with its own fields', async () => {
  const sessionId = await gateway.createSession(merchant);
  expect((await press(sessionId, {}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  for (const bad of [
    { reference: 'x' },
    { try: 0 },
    { try: '1' },
    { encryptedCard: 'x'.repeat(5000) },
    { encryptedCard: 7 },
  ]) {
    const { status, body } = await press(sessionId, bad);
    const message = expect.stringMatching(new RegExp(`^${Object.keys(bad)[0]} must `));
    expect([status, body.errors]).toEqual([400, [{ message }]]);
  }
  expect((await press(randomUUID())).status).toBe(404);
  expect((await gateway.call('GET', `/pay/${randomUUID()}/state`)).status).toBe(404);
});

test('the gateway limits the pay requests of each address', async () => {
  const bounded = await startGateway({ SVC_PAYMENTS_PER_MINUTE: '3' });
  try {
    const sessionId = await bounded.createSession(await bounded.aMerchant());
    await bounded.charges(({ payable, reference }) => ({
      ok: true,
      reply: aPayment(payable, { reference, version: 3 }),
    }));
    const statuses: number[] = [];
    let waits: unknown;
    for (let presses = 0; presses < 4; presses++) {
      const payload = { reference: randomUUID(), try: 1, encryptedCard: 'a.b.c' };
      const { status, headers } = await bounded.call('POST', `/pay/${sessionId}/payments`, { payload });
      statuses.push(status);
      waits = headers['retry-after'];
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect(Number(waits)).toBeGreaterThan(0);
  } finally {
    await bounded.stop();
  }
});
