import { randomUUID } from 'node:crypto';
import {
  type HostedPayableDescriptor,
  type HostedPaymentSnapshot,
  type HostedSessionSource,
  PaymentFailedV1,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import { parseOwnCode } from '@svc/kernel';
import { anEvent } from '@svc/testing';
import { buildPayment, CODES_URL, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway({ SVC_PAYMENTS_PER_MINUTE: '60' });
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

interface SessionWithCode {
  readonly sessionId: string;
  readonly payable: HostedPayableDescriptor;
  readonly code: string;
}
async function createSessionWithCode(): Promise<SessionWithCode> {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.findPublishedPayable(sessionId);
  return { sessionId, payable, code: payable.source.code };
}
const openByCode = (code: string, query = '') => gateway.call('GET', `/c/${code}${query}`);
const openFromShop = async ({ sessionId }: SessionWithCode): Promise<string> =>
  (await gateway.call('GET', `/pay?sessionId=${sessionId}`)).text;
const pageState = (text: string): string | undefined => /data-state="([^"]*)"/.exec(text)?.[1];
const pay = (code: string, headers: Record<string, string> = {}) =>
  gateway.call('POST', `/c/${code}/payments`, {
    headers,
    payload: { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c' },
  });
const PARTNER = { organisationId: randomUUID(), customer: { id: 'c-1', firstName: '', lastName: '' } };
const buildPartnerPayment = (
  payable: HostedPayableDescriptor,
  overrides: Parameters<typeof buildPayment<HostedSessionSource>>[1],
): HostedPaymentSnapshot =>
  buildPayment(payable, { partner: PARTNER, merchantName: 'Karoo Books', siteReference: 'web', ...overrides });

test('each session has a different code of 20 digits', async () => {
  const codes = await Promise.all(Array.from({ length: 20 }, async () => (await createSessionWithCode()).code));
  expect(new Set(codes).size).toBe(20);
  for (const code of codes) expect(code).toMatch(/^\d{20}$/);
});

test('the page shows a QR code, and the address of the code opens a page of the same session without links to the shop', async () => {
  const session = await createSessionWithCode();
  const shop = await openFromShop(session);
  expect(shop).toContain('QR code that opens this payment on a phone');
  expect(shop).toContain(`data-calls-path="/pay/${session.sessionId}"`);

  const { status, headers, text } = await openByCode(session.code);
  expect([status, headers['cache-control'], pageState(text)]).toEqual([200, 'no-store', 'open']);
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  for (const shown of [
    'Karoo Books',
    'R 123.45',
    'The Story of an African Farm',
    `data-calls-path="/c/${session.code}"`,
  ])
    expect(text).toContain(shown);
  for (const hidden of ['shop.example', 'Back to store', 'id="code-view"', CODES_URL])
    expect(text).not.toContain(hidden);
});

test('a payment on the page of the code pays the session: both pages show a receipt, and only the page from the shop redirects to it', async () => {
  const session = await createSessionWithCode();
  let bankRedirectUrl = '';
  await gateway.respondToCharges(({ payable, reference, payerReturnUrl }) => {
    bankRedirectUrl = payerReturnUrl;
    return {
      ok: true,
      reply: buildPayment(payable, { reference, version: 3, modifiedUTCDate: gateway.clock.nowISO() }),
    };
  });
  const { status, body } = await pay(session.code);
  expect([status, body]).toEqual([200, { state: 'succeeded', version: 3 }]);
  expect(bankRedirectUrl).toBe(`${CODES_URL}/c/${session.code}`);
  expect((await gateway.call('GET', `/c/${session.code}/state`)).body).toEqual(body);

  const { text } = await openByCode(session.code);
  expect(text).toContain('The other device shows the payment too.');
  expect(text).not.toContain('shop.example');
  const shop = await openFromShop(session);
  expect([pageState(shop), shop.includes('id="return-link" href="https://shop.example/return')]).toEqual([
    'succeeded',
    true,
  ]);
});

test('the page that a code opens offers to use another card while a payment is in verification', async () => {
  const { code, payable } = await createSessionWithCode();
  const inVerification = buildPayment(payable, {
    version: 3,
    state: 'verificationRequired',
    verificationUrl: 'https://bank.example/challenges/1',
    verificationUntilUTCDate: gateway.clock.later(900_000).toISOString(),
  });
  const event = { ...inVerification, payable: { ...inVerification.payable, state: 'open' as const } };
  await gateway.deliver(anEvent(PaymentVerificationRequiredV1, randomUUID(), 2, event));
  const { text } = await openByCode(code);
  expect([pageState(text), text.includes('href="?card=another"')]).toEqual(['verification', true]);
  expect(pageState((await openByCode(code, '?card=another')).text)).toBe('open');
});

// A session has two pages: the shop redirects the payer to the first, and the scanned code opens the second.
describe('after the customer of a partner scanned the code', () => {
  test('both pages show the receipt if that customer has paid', async () => {
    const session = await createSessionWithCode();
    const paid = buildPartnerPayment(session.payable, { version: 3, modifiedUTCDate: gateway.clock.nowISO() });
    await gateway.deliver(anEvent(PaymentSucceededV1, randomUUID(), 2, paid));
    expect([pageState((await openByCode(session.code)).text), pageState(await openFromShop(session))]).toEqual([
      'succeeded',
      'succeeded',
    ]);
  });

  test('both pages show no decline of that customer, but count the payment', async () => {
    const session = await createSessionWithCode();
    const failed = buildPartnerPayment(session.payable, { version: 3, state: 'failed' });
    await gateway.deliver(anEvent(PaymentFailedV1, randomUUID(), 2, failed));
    for (const text of [await openFromShop(session), (await openByCode(session.code)).text]) {
      expect([pageState(text), /data-payment-number="(\d)"/.exec(text)?.[1]]).toEqual(['open', '2']);
      expect(text).not.toContain('id="decline"');
    }
  });

  test('neither page redirects its payer to the bank of that customer', async () => {
    const session = await createSessionWithCode();
    const inVerification = buildPartnerPayment(session.payable, {
      version: 3,
      state: 'verificationRequired',
      verificationUrl: 'https://bank.example/challenges/2',
      verificationUntilUTCDate: gateway.clock.later(900_000).toISOString(),
    });
    const event = { ...inVerification, payable: { ...inVerification.payable, state: 'open' as const } };
    await gateway.deliver(anEvent(PaymentVerificationRequiredV1, randomUUID(), 2, event));
    for (const text of [await openFromShop(session), (await openByCode(session.code)).text]) {
      expect(pageState(text)).toBe('open');
      expect(text).not.toContain('bank.example');
    }
  });
});

test.each(['00000000000000000000', 'x', '1'.repeat(19), '%00', 'constructor'])(
  'the page for the invalid code %s has status 404 and explains how to pay, and all other calls with this code get a 404',
  async (code) => {
    const { status, headers, text } = await openByCode(code);
    expect([status, headers['content-type'], pageState(text)]).toEqual([404, 'text/html; charset=utf-8', 'not-found']);
    expect(text).toContain('scan it with a payment app');
    expect((await gateway.call('GET', `/c/${code}/state`)).status).toBe(404);
    expect((await gateway.call('GET', `/c/${code}/events`)).status).toBe(404);
    expect((await pay(code)).status).toBe(404);
  },
);

test.each([
  ['/c/', '/'],
  ['/C/', ''],
  ['/C/', '/'],
  ['/c/%20', '%20'],
  ['/C/%20%09', '%C2%A0'],
  ['/c/', '%20/'],
  ['/c/', '/%0d%0A'],
  ['/c/', '%3Futm=poster'],
  ['/c/', '%2520'],
])('the address of a code that a scanner has changed to %s<code>%s redirects to the page', async (before, after) => {
  const { code } = await createSessionWithCode();
  // The same text is a code for decoding: both use the same rule.
  expect(parseOwnCode(`${CODES_URL}${before}${code}${after}`.replace('%3F', '?').replace('%25', '%'), CODES_URL)).toBe(
    code,
  );
  const changed = (query: string) => gateway.call('GET', `${before}${code}${after}${query}`);
  const { status, headers } = await changed('?utm=poster&lang=zu');
  expect([status, headers['location'], headers['cache-control']]).toEqual([303, `/c/${code}?lang=zu`, 'no-store']);
  expect((await changed('')).headers['location']).toBe(`/c/${code}`);
});

test.each(['/C/', '/C/x', '/c/%20', '/c/01234567890123456789/more', '/c/01234567890123456789//'])(
  'the address %s is the page for an invalid code',
  async (path) => {
    const { status, headers, text } = await gateway.call('GET', path);
    expect([status, headers['content-type'], pageState(text)]).toEqual([404, 'text/html; charset=utf-8', 'not-found']);
  },
);

test('a session id is not accepted as a code, and a code is not accepted as a session id', async () => {
  const { sessionId, code } = await createSessionWithCode();
  expect((await openByCode(sessionId)).status).toBe(404);
  expect((await gateway.call('GET', `/pay?sessionId=${code}`)).status).toBe(404);
});

test('the page of the code rejects cross-site pay requests, and both pages share one rate limit for each IP address', async () => {
  const { code, sessionId } = await createSessionWithCode();
  expect((await pay(code, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  let status = 0;
  for (let count = 0; count < 70 && status !== 429; count++) status = (await pay(code)).status;
  expect(status).toBe(429);
  const fromShop = await gateway.call('POST', `/pay/${sessionId}/payments`, {
    payload: { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c' },
  });
  expect(fromShop.status).toBe(429);
});
