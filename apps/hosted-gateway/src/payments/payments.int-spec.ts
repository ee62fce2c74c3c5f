import { randomUUID } from 'node:crypto';
import { newPaymentReference } from '@svc/kernel';
import { aPayment, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { STRANGERS, strangersTo } from '../../test/merchants.js';
import { SessionRepository } from '../sessions/session.repository.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.aMerchant();
});
afterAll(() => gateway.stop());

async function paidSession(): Promise<{ sessionId: string; failed: string; paid: string }> {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.payableOf(sessionId);
  const failed = aPayment(payable, { state: 'failed', version: 3, tries: 1 });
  const paid = aPayment(payable, { version: 5, tries: 2, paymentUTCDate: '2026-03-01T10:01:00.000Z' });
  const sessions = gateway.service.app.get(SessionRepository);
  await sessions.upsertPayments([failed]);
  await sessions.upsertPayments([paid]);
  return { sessionId, failed: failed.paymentReference, paid: paid.paymentReference };
}

test.each(['v3', 'v3.1'])(
  'the API returns the payments of a session in %s, newest first, including failed ones',
  async (version) => {
    const { sessionId, failed, paid } = await paidSession();
    const { status, body } = await gateway.call('GET', `/api/${version}/payments?sessionId=${sessionId}`, {
      headers: merchant.headers,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'Success',
      errors: [],
      payments: [
        {
          sessionId,
          amount: 12345,
          currencyISOCode: 'ZAR',
          merchantOrderId: 'order-17',
          paymentReference: paid,
          paymentStatus: 'Success',
          paymentUTCDate: '2026-03-01T10:01:00.000Z',
          status: 'Success',
          paymentMethod: '**** 4242',
        },
        expect.objectContaining({
          paymentReference: failed,
          paymentStatus: 'Failed',
          userMessage: 'The card has insufficient funds.',
        }),
      ],
    });
  },
);

test('the API returns one payment by its reference, in upper or lower case', async () => {
  const { paid } = await paidSession();
  for (const reference of [paid, paid.toLowerCase()]) {
    const { status, body } = await gateway.call('GET', `/api/v3.1/payments/${reference}`, {
      headers: merchant.headers,
    });
    expect([status, body.paymentReference]).toEqual([200, paid]);
  }
});

test('an unknown or malformed reference, or one of another merchant, is a 404', async () => {
  const { sessionId, paid } = await paidSession();
  const other = await gateway.aMerchant();
  const asked = [
    [`/payments?sessionId=${randomUUID()}`, merchant],
    ['/payments?sessionId=nonsense', merchant],
    [`/payments?sessionId=${sessionId}`, other],
    [`/payments/${paid}`, other],
    [`/payments/${newPaymentReference(new Date())}`, merchant],
    ['/payments/nonsense', merchant],
    [`/payments/${'x'.repeat(5_000)}`, merchant],
    [`/payments/${'0'.repeat(18)}`, merchant],
  ] as const;
  for (const [path, { headers }] of asked) {
    const { status, body } = await gateway.call('GET', `/api/v3.1${path}`, { headers });
    expect([path, status, body.status]).toEqual([path, 404, 'NotFound']);
  }
});

describe('payments are only found by the site and in the mode of the session', () => {
  const read = (path: string, headers: Record<string, string>) => gateway.call('GET', `/api/v3.1${path}`, { headers });

  test.each(STRANGERS)('not by %s', async (stranger) => {
    const { sessionId, paid } = await paidSession();
    const other = (await strangersTo(merchant, (site) => gateway.aMerchant(site)))[stranger];
    for (const key of [other.siteKey, other.merchantKey]) {
      const headers = { ...other.headers, 'x-api-key': key };
      for (const path of [`/payments?sessionId=${sessionId}`, `/payments/${paid}`])
        expect([path, (await read(path, headers)).status]).toEqual([path, 404]);
    }
  });

  test('also by the key of the merchant', async () => {
    const { sessionId, paid } = await paidSession();
    const headers = { ...merchant.headers, 'x-api-key': merchant.merchantKey };
    for (const path of [`/payments?sessionId=${sessionId}`, `/payments/${paid}`])
      expect([path, (await read(path, headers)).status]).toEqual([path, 200]);
  });
});

test('the API sorts payments by acceptance time, newest first, then by version', async () => {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.payableOf(sessionId);
  // The first payment waited for a verification, and failed after the others.
  const accepted = { 9: '09:59:59', 5: '10:00:00', 3: '10:00:00', 7: '10:00:00' };
  const payments = Object.entries(accepted).map(([version, time]) =>
    aPayment(payable, { state: 'failed', version: Number(version), paymentUTCDate: `2026-03-01T${time}.000Z` }),
  );
  for (const payment of payments) await gateway.service.app.get(SessionRepository).upsertPayments([payment]);
  const { body } = await gateway.call('GET', `/api/v3.1/payments?sessionId=${sessionId}`, {
    headers: merchant.headers,
  });
  const versionOf = new Map(payments.map(({ paymentReference, payable: { version } }) => [paymentReference, version]));
  const listed = (body.payments as { paymentReference: string }[]).map((one) => versionOf.get(one.paymentReference));
  expect(listed).toEqual([7, 5, 3, 9]);
});

test('a request without sessionId is a 400 that names it; without credentials it is a 401', async () => {
  expect(
    (await gateway.call('GET', '/api/v3.1/payments', { headers: merchant.headers })).body.errors[0].message,
  ).toContain('sessionId');
  for (const path of ['', `/${'x'.repeat(5_000)}`])
    expect((await gateway.call('GET', `/api/v3.1/payments${path}`)).status).toBe(401);
});

test('a payment that is not final is not listed', async () => {
  const sessionId = await gateway.createSession(merchant);
  const processing = aPayment(await gateway.payableOf(sessionId), { state: 'processing', version: 2 });
  await gateway.service.app.get(SessionRepository).upsertPayments([processing]);
  expect(
    (await gateway.call('GET', `/api/v3.1/payments?sessionId=${sessionId}`, { headers: merchant.headers })).body
      .payments,
  ).toEqual([]);
  expect(
    (await gateway.call('GET', `/api/v3.1/payments/${processing.paymentReference}`, { headers: merchant.headers }))
      .status,
  ).toBe(404);
});

test('the API limits the calls of an address without a key', async () => {
  const bounded = await startGateway({ SVC_KEYLESS_CALLS_PER_MINUTE: '2' });
  try {
    const { headers } = await bounded.aMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
    const { 'x-api-key': _, ...keyless } = headers;
    const statuses: number[] = [];
    for (const sent of [keyless, keyless, keyless, headers])
      statuses.push((await bounded.call('GET', `/api/v3.1/payments/${'0'.repeat(18)}`, { headers: sent })).status);
    expect(statuses).toEqual([404, 404, 429, 404]);
  } finally {
    await bounded.stop();
  }
});
