import { randomUUID } from 'node:crypto';
import { newPaymentReference } from '@svc/kernel';
import { aPayment, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
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
  await sessions.keepPayments([failed]);
  await sessions.keepPayments([paid]);
  return { sessionId, failed: failed.paymentReference, paid: paid.paymentReference };
}

test.each(['v3', 'v3.1'])('the payments of a session in %s, newest first, failed ones included', async (version) => {
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
});

test('one payment, its reference in either case', async () => {
  const { paid } = await paidSession();
  for (const reference of [paid, paid.toLowerCase()]) {
    const { status, body } = await gateway.call('GET', `/api/v3.1/payments/${reference}`, {
      headers: merchant.headers,
    });
    expect([status, body.paymentReference]).toEqual([200, paid]);
  }
});

test('what is not there, malformed or of somebody else is a 404', async () => {
  const { sessionId, paid } = await paidSession();
  const other = await gateway.aMerchant();
  const asked = [
    [`/payments?sessionId=${randomUUID()}`, merchant],
    ['/payments?sessionId=nonsense', merchant],
    [`/payments?sessionId=${sessionId}`, other],
    [`/payments/${paid}`, other],
    [`/payments/${newPaymentReference(new Date())}`, merchant],
    ['/payments/nonsense', merchant],
    [`/payments/${'0'.repeat(18)}`, merchant],
  ] as const;
  for (const [path, { headers }] of asked) {
    const { status, body } = await gateway.call('GET', `/api/v3.1${path}`, { headers });
    expect([path, status, body.status]).toEqual([path, 404, 'NotFound']);
  }
});

test('without sessionId: a 400 that names it; without credentials: 401 first', async () => {
  expect(
    (await gateway.call('GET', '/api/v3.1/payments', { headers: merchant.headers })).body.errors[0].message,
  ).toContain('sessionId');
  expect((await gateway.call('GET', '/api/v3.1/payments')).status).toBe(401);
});

test('a payment that is not final is not shown', async () => {
  const sessionId = await gateway.createSession(merchant);
  const processing = aPayment(await gateway.payableOf(sessionId), { state: 'processing', version: 2 });
  await gateway.service.app.get(SessionRepository).keepPayments([processing]);
  expect(
    (await gateway.call('GET', `/api/v3.1/payments?sessionId=${sessionId}`, { headers: merchant.headers })).body
      .payments,
  ).toEqual([]);
  expect(
    (await gateway.call('GET', `/api/v3.1/payments/${processing.paymentReference}`, { headers: merchant.headers }))
      .status,
  ).toBe(404);
});
