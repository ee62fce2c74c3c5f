import { randomUUID } from 'node:crypto';
import {
  type HostedPaymentSnapshot,
  type HostedSessionSource,
  type PayableDescriptor,
  PaymentFailedV1,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
} from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { aPayment, CODES_URL, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway({ SVC_PAYMENTS_PER_MINUTE: '60' });
  merchant = await gateway.aMerchant();
});
afterAll(() => gateway.stop());

interface Coded {
  readonly sessionId: string;
  readonly payable: PayableDescriptor;
  readonly code: string;
}
async function coded(): Promise<Coded> {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.payableOf(sessionId);
  return { sessionId, payable, code: payable.source.code! };
}
const phone = (code: string, query = '') => gateway.call('GET', `/c/${code}${query}`);
const desktop = async ({ sessionId }: Coded): Promise<string> =>
  (await gateway.call('GET', `/pay?sessionId=${sessionId}`)).text;
const shownOn = (text: string): string | undefined => /data-state="([^"]*)"/.exec(text)?.[1];
const press = (code: string, headers: Record<string, string> = {}) =>
  gateway.call('POST', `/c/${code}/payments`, {
    headers,
    payload: { reference: randomUUID(), try: 1, encryptedCard: 'a.b.c' },
  });
const PARTNER = { organisationId: randomUUID(), customer: { id: 'c-1', firstName: '', lastName: '' } };
const ofPartner = (
  payable: PayableDescriptor,
  over: Parameters<typeof aPayment<HostedSessionSource>>[1],
): HostedPaymentSnapshot =>
  aPayment(payable, { partner: PARTNER, merchantName: 'Karoo Books', siteReference: 'web', ...over });

test('each session has its own code, and keeps it when the request is repeated', async () => {
  const codes = await Promise.all(Array.from({ length: 20 }, async () => (await coded()).code));
  expect(new Set(codes).size).toBe(20);
  for (const code of codes) expect(code).toMatch(/^\d{20}$/);
});

test('the page shows the code, which opens the same payment without links to the shop', async () => {
  const session = await coded();
  const shop = await desktop(session);
  expect(shop).toContain('QR code that opens this payment on a phone');
  expect(shop).toContain(`data-calls-path="/pay/${session.sessionId}"`);

  const { status, headers, text } = await phone(session.code);
  expect([status, headers['cache-control'], shownOn(text)]).toEqual([200, 'no-store', 'open']);
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

test('a payment on the phone pays the session: both pages show it, only the shop’s page redirects to the shop, and the bank redirects to the phone', async () => {
  const session = await coded();
  let returned = '';
  await gateway.charges(({ payable, reference, payerReturnUrl }) => {
    returned = payerReturnUrl;
    return { ok: true, reply: aPayment(payable, { reference, version: 3, modifiedUTCDate: gateway.clock.nowISO() }) };
  });
  const { status, body } = await press(session.code);
  expect([status, body]).toEqual([200, { state: 'succeeded', version: 3 }]);
  expect(returned).toBe(`${CODES_URL}/c/${session.code}`);
  expect((await gateway.call('GET', `/c/${session.code}/state`)).body).toEqual(body);

  const { text } = await phone(session.code);
  expect(text).toContain('The page of the shop goes on by itself.');
  expect(text).not.toContain('shop.example');
  const shop = await desktop(session);
  expect([shownOn(shop), shop.includes('id="return-link" href="https://shop.example/return')]).toEqual([
    'succeeded',
    true,
  ]);
});

test('a payer in verification can use another card there, too', async () => {
  const { code, payable } = await coded();
  const waiting = aPayment(payable, {
    version: 3,
    state: 'verificationRequired',
    verificationUrl: 'https://bank.example/challenges/1',
    verificationUntilUTCDate: gateway.clock.later(900_000).toISOString(),
  });
  const event = { ...waiting, payable: { ...waiting.payable, state: 'open' as const } };
  await gateway.deliver(anEvent(PaymentVerificationRequiredV1, randomUUID(), 2, event));
  const { text } = await phone(code);
  expect([shownOn(text), text.includes('href="?card=another"')]).toEqual(['verification', true]);
  expect(shownOn((await phone(code, '?card=another')).text)).toBe('open');
});

describe('when a partner’s customer scans it', () => {
  test('both pages show the payment if that customer pays', async () => {
    const session = await coded();
    const paid = ofPartner(session.payable, { version: 3, modifiedUTCDate: gateway.clock.nowISO() });
    await gateway.deliver(anEvent(PaymentSucceededV1, randomUUID(), 2, paid));
    expect([shownOn((await phone(session.code)).text), shownOn(await desktop(session))]).toEqual([
      'succeeded',
      'succeeded',
    ]);
  });

  test('the page shows no decline of that customer; only the attempt is counted', async () => {
    const session = await coded();
    const failed = ofPartner(session.payable, { version: 3, state: 'failed' });
    await gateway.deliver(anEvent(PaymentFailedV1, randomUUID(), 2, failed));
    for (const text of [await desktop(session), (await phone(session.code)).text]) {
      expect([shownOn(text), /data-try="(\d)"/.exec(text)?.[1]]).toEqual(['open', '2']);
      expect(text).not.toContain('id="decline"');
    }
  });

  test('the page does not redirect its payer to the bank of that customer', async () => {
    const session = await coded();
    const waiting = ofPartner(session.payable, {
      version: 3,
      state: 'verificationRequired',
      verificationUrl: 'https://bank.example/challenges/2',
      verificationUntilUTCDate: gateway.clock.later(900_000).toISOString(),
    });
    const event = { ...waiting, payable: { ...waiting.payable, state: 'open' as const } };
    await gateway.deliver(anEvent(PaymentVerificationRequiredV1, randomUUID(), 2, event));
    for (const text of [await desktop(session), (await phone(session.code)).text]) {
      expect(shownOn(text)).toBe('open');
      expect(text).not.toContain('bank.example');
    }
  });
});

test.each(['00000000000000000000', 'x', '1'.repeat(19), '%00', 'constructor'])(
  '%s is not a code, and the page explains it',
  async (code) => {
    const { status, headers, text } = await phone(code);
    expect([status, headers['content-type'], shownOn(text)]).toEqual([404, 'text/html; charset=utf-8', 'not-found']);
    expect(text).toContain('scan it with a payment app');
    expect((await gateway.call('GET', `/c/${code}/state`)).status).toBe(404);
    expect((await gateway.call('GET', `/c/${code}/events`)).status).toBe(404);
    expect((await press(code)).status).toBe(404);
  },
);

test('an id is not accepted as a code, nor a code as an id', async () => {
  const { sessionId, code } = await coded();
  expect((await phone(sessionId)).status).toBe(404);
  expect((await gateway.call('GET', `/pay?sessionId=${code}`)).status).toBe(404);
});

test('cross-site pay requests are rejected there, and both pages share one limit for each address', async () => {
  const { code, sessionId } = await coded();
  expect((await press(code, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  let status = 0;
  for (let times = 0; times < 70 && status !== 429; times++) status = (await press(code)).status;
  expect(status).toBe(429);
  const other = await gateway.call('POST', `/pay/${sessionId}/payments`, {
    payload: { reference: randomUUID(), try: 1, encryptedCard: 'a.b.c' },
  });
  expect(other.status).toBe(429);
});
