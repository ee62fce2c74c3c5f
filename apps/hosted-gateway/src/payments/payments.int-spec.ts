import { randomUUID } from 'node:crypto';
import { newPaymentReference } from '@svc/kernel';
import { buildPayment, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { createOtherCallers, OTHER_CALLERS } from '../../test/merchants.js';
import { SessionRepository } from '../sessions/session.repository.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

async function createPaidSession(): Promise<{ sessionId: string; failed: string; paid: string }> {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.findPublishedPayable(sessionId);
  const failed = buildPayment(payable, { state: 'failed', version: 3, paymentCount: 1 });
  const paid = buildPayment(payable, { version: 5, paymentCount: 2, paymentUTCDate: '2026-03-01T10:01:00.000Z' });
  const sessions = gateway.service.app.get(SessionRepository);
  await sessions.upsertPayments([failed]);
  await sessions.upsertPayments([paid]);
  return { sessionId, failed: failed.paymentReference, paid: paid.paymentReference };
}

test.each(['v3', 'v3.1'])(
  'API %s returns the payments of a session, newest first, including failed payments',
  async (version) => {
    const { sessionId, failed, paid } = await createPaidSession();
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
  const { paid } = await createPaidSession();
  for (const reference of [paid, paid.toLowerCase()]) {
    const { status, body } = await gateway.call('GET', `/api/v3.1/payments/${reference}`, {
      headers: merchant.headers,
    });
    expect([status, body.paymentReference]).toEqual([200, paid]);
  }
});

test('a request for an unknown or malformed id, or for a payment of another merchant, gets a 404', async () => {
  const { sessionId, paid } = await createPaidSession();
  const otherMerchant = await gateway.createMerchant();
  const requests = [
    [`/payments?sessionId=${randomUUID()}`, merchant],
    ['/payments?sessionId=nonsense', merchant],
    [`/payments?sessionId=${sessionId}`, otherMerchant],
    [`/payments/${paid}`, otherMerchant],
    [`/payments/${newPaymentReference(new Date())}`, merchant],
    ['/payments/nonsense', merchant],
    [`/payments/${'x'.repeat(5_000)}`, merchant],
    [`/payments/${'0'.repeat(18)}`, merchant],
  ] as const;
  for (const [path, { headers }] of requests) {
    const { status, body } = await gateway.call('GET', `/api/v3.1${path}`, { headers });
    expect([path, status, body.status]).toEqual([path, 404, 'NotFound']);
  }
});

describe('payments of a session', () => {
  const read = (path: string, headers: Record<string, string>) => gateway.call('GET', `/api/v3.1${path}`, { headers });

  test.each(OTHER_CALLERS)('are not found by %s', async (callerKind) => {
    const { sessionId, paid } = await createPaidSession();
    const other = (await createOtherCallers(merchant, (site) => gateway.createMerchant(site)))[callerKind];
    for (const key of [other.siteKey, other.merchantKey]) {
      const headers = { ...other.headers, 'x-api-key': key };
      for (const path of [`/payments?sessionId=${sessionId}`, `/payments/${paid}`])
        expect([path, (await read(path, headers)).status]).toEqual([path, 404]);
    }
  });

  test('are found with the key of the merchant', async () => {
    const { sessionId, paid } = await createPaidSession();
    const headers = { ...merchant.headers, 'x-api-key': merchant.merchantKey };
    for (const path of [`/payments?sessionId=${sessionId}`, `/payments/${paid}`])
      expect([path, (await read(path, headers)).status]).toEqual([path, 200]);
  });
});

test('the API sorts payments by acceptance time and then by version, newest first', async () => {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.findPublishedPayable(sessionId);
  // Version and acceptance time. The payment with version 9 was accepted first, waited for verification, and failed
  // last.
  const acceptanceTimes = { 9: '09:59:59', 5: '10:00:00', 3: '10:00:00', 7: '10:00:00' };
  const payments = Object.entries(acceptanceTimes).map(([version, time]) =>
    buildPayment(payable, { state: 'failed', version: Number(version), paymentUTCDate: `2026-03-01T${time}.000Z` }),
  );
  for (const payment of payments) await gateway.service.app.get(SessionRepository).upsertPayments([payment]);
  const { body } = await gateway.call('GET', `/api/v3.1/payments?sessionId=${sessionId}`, {
    headers: merchant.headers,
  });
  const versionByReference = new Map(
    payments.map(({ paymentReference, payable: { version } }) => [paymentReference, version]),
  );
  const listed = (body.payments as { paymentReference: string }[]).map(({ paymentReference }) =>
    versionByReference.get(paymentReference),
  );
  expect(listed).toEqual([7, 5, 3, 9]);
});

test('a request without sessionId is rejected with an error that names the parameter, and a request without credentials with 401', async () => {
  expect(
    (await gateway.call('GET', '/api/v3.1/payments', { headers: merchant.headers })).body.errors[0].message,
  ).toContain('sessionId');
  for (const path of ['', `/${'x'.repeat(5_000)}`])
    expect((await gateway.call('GET', `/api/v3.1/payments${path}`)).status).toBe(401);
});

test('a payment that is not final is neither listed nor found', async () => {
  const sessionId = await gateway.createSession(merchant);
  const processing = buildPayment(await gateway.findPublishedPayable(sessionId), { state: 'processing', version: 2 });
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

test('calls without a key are rate limited by IP address', async () => {
  const limitedGateway = await startGateway({ SVC_KEYLESS_CALLS_PER_MINUTE: '2' });
  try {
    const { headers } = await limitedGateway.createMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
    const { 'x-api-key': _, ...keyless } = headers;
    const statuses: number[] = [];
    for (const callHeaders of [keyless, keyless, keyless, headers])
      statuses.push(
        (await limitedGateway.call('GET', `/api/v3.1/payments/${'0'.repeat(18)}`, { headers: callHeaders })).status,
      );
    expect(statuses).toEqual([404, 404, 429, 404]);
  } finally {
    await limitedGateway.stop();
  }
});
