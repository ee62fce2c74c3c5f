import { randomUUID } from 'node:crypto';
import { newApiKey } from '@svc/auth';
import { ClosePayableV1, SessionCreatedV1 } from '@svc/contracts';
import { PaymentSucceededV1 } from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { anEvent } from '@svc/testing';
import { ADMIN_KEY, aPayment, aSessionRequest, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway({ SVC_KEYLESS_CALLS_PER_MINUTE: '60' });
});
beforeEach(async () => {
  merchant = await gateway.aMerchant();
});
afterAll(() => gateway.stop());

const create = (payload: unknown, headers = merchant.headers, version = 'v3.1') =>
  gateway.call('POST', `/api/${version}/sessions`, { headers, payload });

test('creating a session returns 201 with the URL of its page, and publishes one event with the whole payable', async () => {
  const { status, body, headers } = await create(aSessionRequest());
  expect(status).toBe(201);
  expect(body).toEqual({
    sessionId: expect.any(String),
    redirectUrl: `https://pay.example/pay?sessionId=${body.sessionId}`,
    status: 'Success',
    errors: [],
  });
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  const payable = await gateway.payableOf(body.sessionId as string);
  expect(payable).toEqual({
    payableId: body.sessionId,
    mode: 'test',
    merchantId: merchant.merchantId,
    siteId: merchant.siteId,
    amount: 12345,
    currencyISOCode: 'ZAR',
    expiresAt: '2026-03-01T10:30:00.000Z',
    triesMax: 5,
    source: {
      kind: 'session',
      sessionId: body.sessionId,
      apiVersion: 'v3.1',
      merchantOrderId: 'order-17',
      notificationUrl: 'https://shop.example/hook',
      code: expect.stringMatching(/^[0-9]{20}$/) as string,
    },
  });
});

test('both API versions create sessions, and each session stores its version', async () => {
  const request = aSessionRequest();
  const [newer, older] = [await create(request), await create(request, merchant.headers, 'v3')];
  expect(newer.body.sessionId).not.toBe(older.body.sessionId);
  expect((await gateway.payableOf(older.body.sessionId as string)).source.apiVersion).toBe('v3');
});

test('the same requestId returns the same session, also for fifty concurrent requests', async () => {
  const request = aSessionRequest();
  const answers = await Promise.all(Array.from({ length: 50 }, () => create(request)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  const ids = new Set(answers.map(({ body }) => body.sessionId as string));
  expect(ids.size).toBe(1);
  expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(49);
  const events = await gateway.published(SessionCreatedV1);
  expect(events.filter(({ aggregateId }) => ids.has(aggregateId))).toHaveLength(1);
});

test('the same requestId with another body is rejected; unknown fields are ignored', async () => {
  const request = aSessionRequest();
  const first = await create(request);
  expect((await create({ ...request, somethingNew: 1 })).body.sessionId).toBe(first.body.sessionId);
  for (const change of [
    { amount: 1 },
    { merchantOrderId: 'other' },
    { returnUrl: 'https://shop.example/x' },
    { customFields: [] },
    { siteName: undefined },
  ]) {
    const { status, body } = await create({ ...request, ...change });
    expect([status, body.status]).toEqual([409, 'BadRequest']);
  }
});

test('the same requestId at another site creates another session', async () => {
  const other = await gateway.aMerchant();
  const request = aSessionRequest();
  const [mine, theirs] = [await create(request), await create(request, other.headers)];
  expect(theirs.status).toBe(201);
  expect(theirs.body.sessionId).not.toBe(mine.body.sessionId);
});

const required = [
  'requestId',
  'merchantOrderId',
  'amount',
  'currencyISOCode',
  'notificationUrl',
  'returnUrl',
  'cancelUrl',
  'origin',
];
test.each(required)('a request without %s is a 400 that names the field', async (field) => {
  const { status, body } = await create(aSessionRequest({ [field]: undefined }));
  expect([status, body.status]).toEqual([400, 'BadRequest']);
  expect(body.errors).toEqual([{ message: expect.stringContaining(field) }]);
});

test.each([
  ['amount', 0],
  ['amount', -1],
  ['amount', 1.5],
  ['amount', '12345'],
  ['amount', 100_000_000_001],
  ['amount', null],
  ['currencyISOCode', 'USD'],
  ['currencyISOCode', 'zar'],
  ['requestId', ''],
  ['requestId', ' '],
  ['requestId', 'x'.repeat(101)],
  ['requestId', 7],
  ['merchantOrderId', 'a\u0000b'],
  ['merchantOrderId', '\ud800'],
  ['origin', {}],
  ['siteName', 'x'.repeat(101)],
  ['notificationUrl', 'shop.example/hook'],
  ['notificationUrl', 'http://shop.example/hook'],
  ['notificationUrl', 'https://10.0.0.1/hook'],
  ['notificationUrl', 'ftp://shop.example/hook'],
  ['notificationUrl', 'javascript:alert(1)'],
  ['returnUrl', 'https://user:secret@shop.example/'],
  ['cancelUrl', `https://shop.example/${'x'.repeat(2048)}`],
  ['customFields', 'text'],
  ['customFields', Array.from({ length: 21 }, () => ({ key: 'k', value: 'v' }))],
  ['customFields[0].key', [{ key: 'k'.repeat(65), value: 'v' }]],
  ['customFields[1].value', [{ key: 'k', value: 'v' }, { key: 'k' }]],
  ['customFields', [null]],
])('a request with %s = %j is a 400 that names the field', async (field, value) => {
  const { status, body } = await create(aSessionRequest({ [field.replace(/\[.*/, '')]: value }));
  expect([status, body.status]).toEqual([400, 'BadRequest']);
  expect(body.errors).toEqual([{ message: expect.stringContaining(field) }]);
});

test('the response names every invalid field', async () => {
  const { body } = await create(aSessionRequest({ amount: 0, origin: '', returnUrl: undefined }));
  expect((body.errors as { message: string }[]).map(({ message }) => message.split(' ')[0]).sort()).toEqual([
    'amount',
    'origin',
    'returnUrl',
  ]);
});

test('one response names malformed fields and rejected URLs, always in the same order', async () => {
  const wrong = {
    cancelUrl: 'http://shop.example/cart',
    returnUrl: 'shop.example',
    notificationUrl: '',
    amount: 0,
    requestId: 7,
  };
  const named = async (request: object, headers = merchant.headers): Promise<string[]> => {
    const { status, body } = await create(request, headers);
    expect([status, Object.keys(body as object)]).toEqual([400, ['status', 'errors']]);
    for (const error of body.errors as object[]) expect(Object.keys(error)).toEqual(['message']);
    return (body.errors as { message: string }[]).map(({ message }) => message.split(' ')[0]!);
  };
  const fields = ['requestId', 'amount', 'notificationUrl', 'returnUrl', 'cancelUrl'];
  expect(await named(aSessionRequest(wrong))).toEqual(fields);
  expect(await named(Object.fromEntries(Object.entries(aSessionRequest(wrong)).toReversed()))).toEqual(fields);

  merchant = await gateway.aMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
  const elsewhere = aSessionRequest({
    amount: 0,
    returnUrl: 'https://evil.example/',
    cancelUrl: 'https://evil.example/',
  });
  const { 'x-api-key': _, ...keyless } = merchant.headers;
  expect(await named(elsewhere, keyless)).toEqual(['amount', 'returnUrl', 'cancelUrl']);
  expect(await named(elsewhere)).toEqual(['amount']);
});

test('http URLs of this machine are accepted only in development', async () => {
  const local = {
    notificationUrl: 'http://127.0.0.1:8080/hook',
    returnUrl: 'http://localhost/x',
    cancelUrl: 'http://[::1]/x',
  };
  expect((await create(aSessionRequest(local))).status).toBe(201);
  const production = await startGateway({ SVC_ENVIRONMENT: 'production' });
  const theirs = await production.aMerchant();
  const { status, body } = await production.call('POST', '/api/v3.1/sessions', {
    headers: theirs.headers,
    payload: aSessionRequest(local),
  });
  expect([status, body.errors]).toEqual([
    400,
    Object.keys(local).map((field) => ({ message: expect.stringContaining(field) })),
  ]);
  await production.stop();
});

describe('authentication of callers (A8)', () => {
  const without = (name: string): Record<string, string> =>
    Object.fromEntries(Object.entries(merchant.headers).filter(([key]) => key !== name));

  test('the key of the site and the key of the merchant are accepted', async () => {
    expect((await create(aSessionRequest(), { ...merchant.headers, 'x-api-key': merchant.merchantKey })).status).toBe(
      201,
    );
  });

  test('a missing or wrong key, or one of another merchant or site, is a 401, before the body is validated', async () => {
    const other = await gateway.aMerchant();
    const wrong = [
      without('x-api-key'),
      without('merchantid'),
      without('merchantsiteid'),
      { ...merchant.headers, 'x-api-key': 'nonsense' },
      { ...merchant.headers, 'x-api-key': newApiKey('site', 'test') },
      { ...merchant.headers, 'x-api-key': other.siteKey },
      { ...merchant.headers, merchantsiteid: String(other.siteId) },
      { ...other.headers, merchantid: String(merchant.merchantId) },
      { ...merchant.headers, merchantid: '999999' },
      { ...merchant.headers, merchantid: "1' OR '1'='1" },
    ];
    for (const headers of wrong) {
      const { status, body } = await create({ amount: 'bad' }, headers);
      expect([status, body]).toEqual([401, { status: 'Unauthorized', errors: [{ message: expect.any(String) }] }]);
    }
  });

  test('a site that needs no key accepts the two documented headers, but only URLs on its own hosts', async () => {
    merchant = await gateway.aMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
    expect((await create(aSessionRequest(), without('x-api-key'))).status).toBe(201);
    const { status, body } = await create(
      aSessionRequest({ notificationUrl: 'https://evil.example/hook' }),
      without('x-api-key'),
    );
    expect([status, body.errors]).toEqual([400, [{ message: expect.stringContaining('notificationUrl') }]]);
    expect((await create(aSessionRequest({ notificationUrl: 'https://elsewhere.example/hook' }))).status).toBe(201);
    expect(
      (await create(aSessionRequest(), { ...merchant.headers, 'x-api-key': newApiKey('site', 'test') })).status,
    ).toBe(401);
  });

  test('calls without a key are limited for each address', async () => {
    merchant = await gateway.aMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
    const answers = [];
    for (let call = 0; call < 62; call++) answers.push(await create(aSessionRequest(), without('x-api-key')));
    const refused = answers.at(-1)!;
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    // Another method of the API, or a header with another address, does not bypass the limit.
    const elsewhere = await gateway.call('GET', '/api/v3/payments?sessionId=x', {
      headers: { ...without('x-api-key'), 'x-forwarded-for': '203.0.113.9' },
    });
    expect(elsewhere.status).toBe(429);
    expect((await create(aSessionRequest())).status).toBe(201);
  });
});

test('a body that is not a JSON object is a 400, and one that is too large a 413, in our envelope', async () => {
  const headers = { ...merchant.headers, 'content-type': 'application/json' };
  const reasons = {
    '{': 'is not valid JSON',
    '': 'is not valid JSON',
    '[]': 'JSON object',
    '"x"': 'JSON object',
    null: 'JSON object',
  };
  for (const [payload, reason] of Object.entries(reasons)) {
    const { status, body } = await gateway.call('POST', '/api/v3.1/sessions', { headers, payload });
    const errors = [{ message: expect.stringContaining(reason) }];
    expect([payload, status, body]).toEqual([payload, 400, { status: 'BadRequest', errors }]);
  }
  const { status, body } = await create(aSessionRequest({ origin: 'x'.repeat(300_000) }));
  expect([status, body.status]).toEqual([413, 'BadRequest']);
  expect((await gateway.call('GET', '/nowhere')).body).toMatchObject({ status: 'NotFound' });
});

describe('cancelling a session (H2)', () => {
  const cancel = (sessionId: string, headers = merchant.headers) =>
    gateway.call('DELETE', `/api/v3.1/sessions/${sessionId}`, { headers });

  test('closes the payable, and the session reports it; other callers cannot cancel', async () => {
    const sessionId = await gateway.createSession(merchant);
    const answering = await gateway.broker.respond(ClosePayableV1.name, () =>
      Promise.resolve({ ok: true, reply: { payableId: sessionId, state: 'closed', version: 2, tries: 0 } }),
    );
    const other = await gateway.aMerchant();
    expect((await cancel(sessionId, other.headers)).status).toBe(404);
    expect((await cancel(randomUUID())).status).toBe(404);
    expect((await cancel('nonsense')).status).toBe(404);
    const { status, body } = await cancel(sessionId);
    expect([status, body]).toEqual([200, { status: 'Success', errors: [] }]);
    expect((await gateway.call('GET', `/pay/${sessionId}/state`)).body).toMatchObject({ state: 'cancelled' });
    await answering.close();
  });

  test('is refused while a payment is processing', async () => {
    const sessionId = await gateway.createSession(merchant);
    const answering = await gateway.broker.respond(ClosePayableV1.name, () =>
      Promise.resolve({
        ok: false,
        code: 'payment.in-progress',
        message: 'A payment is already in progress.',
        fields: [],
      }),
    );
    expect((await cancel(sessionId)).status).toBe(409);
    await answering.close();
  });
});

test('an outdated report of a payment never replaces a newer one', async () => {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.payableOf(sessionId);
  const paid = aPayment(payable, { version: 3 });
  await gateway.deliver(anEvent(PaymentSucceededV1, 'p', 2, paid));
  await gateway.deliver(
    anEvent(PaymentSucceededV1, 'p', 1, {
      ...paid,
      state: 'processing',
      payable: { ...paid.payable, state: 'reserved', version: 2 },
    }),
  );
  expect((await gateway.call('GET', `/pay/${sessionId}/state`)).body).toMatchObject({ state: 'succeeded', version: 3 });
});

test('a payment of an invoice belongs to no session, and does not affect payments in the same delivery', async () => {
  const sessionId = await gateway.createSession(merchant);
  const paid = aPayment(await gateway.payableOf(sessionId), { version: 3 });
  const invoiceReference = randomUUID();
  const source = { kind: 'invoice' as const, invoiceReference, siteReference: 'TILL-1', code: '0'.repeat(20) };
  const ofInvoice = { ...paid, paymentReference: newPaymentReference(new Date()), source };
  await gateway.deliver(anEvent(PaymentSucceededV1, 'i', 2, ofInvoice), anEvent(PaymentSucceededV1, 'p', 2, paid));
  expect((await gateway.call('GET', `/pay/${sessionId}/state`)).body).toMatchObject({ state: 'succeeded', version: 3 });
  const dead = await gateway.call('GET', '/admin/v1/dead-letters/hosted-gateway', {
    headers: { 'x-admin-key': ADMIN_KEY },
  });
  expect(dead.body.deadLetters).toEqual([]);
});

test('administrators can list dead letters of this service and replay them', async () => {
  const sessionId = await gateway.createSession(merchant);
  const paid = aPayment(await gateway.payableOf(sessionId), { version: 3 });
  const poison = anEvent(PaymentSucceededV1, 'p', 2, { ...paid, source: { ...paid.source, sessionId: 'no uuid' } });
  await gateway.deliver(poison);

  const dead = '/admin/v1/dead-letters/hosted-gateway';
  const headers = { 'x-admin-key': ADMIN_KEY };
  expect((await gateway.call('GET', dead)).status).toBe(401);
  expect((await gateway.call('GET', dead, { headers })).body.deadLetters).toEqual([
    expect.objectContaining({ messageId: poison.id, type: 'payment.succeeded.v1' }),
  ]);
  expect((await gateway.call('POST', `${dead}/${poison.id}/replay`, { headers })).status).toBe(500);
  expect((await gateway.call('POST', `${dead}/${randomUUID()}/replay`, { headers })).status).toBe(404);

  await gateway.dataSource.query(
    `UPDATE dead_letters SET envelope = jsonb_set(envelope, '{payload,source,sessionId}', to_jsonb($1::text))`,
    [sessionId],
  );
  expect((await gateway.call('POST', `${dead}/${poison.id}/replay`, { headers })).status).toBe(204);
  expect((await gateway.call('GET', `/pay/${sessionId}/state`)).body).toMatchObject({ state: 'succeeded' });
  expect((await gateway.call('GET', dead, { headers })).body.deadLetters).toEqual([]);
});
