import { randomUUID } from 'node:crypto';
import { newApiKey } from '@svc/auth';
import { ClosePayableV1, SessionCreatedV1 } from '@svc/contracts';
import { PaymentSucceededV1 } from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { anEvent } from '@svc/testing';
import {
  ADMIN_KEY,
  buildPayment,
  buildSessionRequest,
  type Gateway,
  type Merchant,
  startGateway,
} from '../../test/gateway.js';

const CALLS_PER_MINUTE = 60;

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway({ SVC_KEYLESS_CALLS_PER_MINUTE: String(CALLS_PER_MINUTE) });
});
beforeEach(async () => {
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

const create = (payload: unknown, headers = merchant.headers, version = 'v3.1') =>
  gateway.call('POST', `/api/${version}/sessions`, { headers, payload });

test('creating a session responds 201 with the URL of its page, and publishes one event with the whole payable', async () => {
  const { status, body, headers } = await create(buildSessionRequest());
  expect(status).toBe(201);
  expect(body).toEqual({
    sessionId: expect.any(String),
    redirectUrl: `https://pay.example/pay?sessionId=${body.sessionId}`,
    status: 'Success',
    errors: [],
  });
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  const payable = await gateway.findPublishedPayable(body.sessionId as string);
  expect(payable).toEqual({
    payableId: body.sessionId,
    mode: 'test',
    merchantId: merchant.merchantId,
    siteId: merchant.siteId,
    amount: 12345,
    currencyISOCode: 'ZAR',
    expiresAt: '2026-03-01T10:30:00.000Z',
    maxPayments: 5,
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

test('both API versions create sessions, and the payable of a session contains the version', async () => {
  const request = buildSessionRequest();
  const [v31, v3] = [await create(request), await create(request, merchant.headers, 'v3')];
  expect(v31.body.sessionId).not.toBe(v3.body.sessionId);
  expect((await gateway.findPublishedPayable(v3.body.sessionId as string)).source.apiVersion).toBe('v3');
});

test('requests with one requestId return one session, also if fifty of them are concurrent', async () => {
  const request = buildSessionRequest();
  const responses = await Promise.all(Array.from({ length: 50 }, () => create(request)));
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 201));
  const ids = new Set(responses.map(({ body }) => body.sessionId as string));
  expect(ids.size).toBe(1);
  expect(responses.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(49);
  const events = await gateway.published(SessionCreatedV1);
  expect(events.filter(({ aggregateId }) => ids.has(aggregateId))).toHaveLength(1);
});

test('a request with a used requestId and another body is rejected, but unknown fields are ignored', async () => {
  const request = buildSessionRequest();
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

test('a requestId that another site has used creates a new session', async () => {
  const otherMerchant = await gateway.createMerchant();
  const request = buildSessionRequest();
  const [first, second] = [await create(request), await create(request, otherMerchant.headers)];
  expect(second.status).toBe(201);
  expect(second.body.sessionId).not.toBe(first.body.sessionId);
});

const REQUIRED_FIELDS = [
  'requestId',
  'merchantOrderId',
  'amount',
  'currencyISOCode',
  'notificationUrl',
  'returnUrl',
  'cancelUrl',
  'origin',
];
test.each(REQUIRED_FIELDS)(
  'a request without %s is rejected with 400 and an error that names the field',
  async (field) => {
    const { status, body } = await create(buildSessionRequest({ [field]: undefined }));
    expect([status, body.status]).toEqual([400, 'BadRequest']);
    expect(body.errors).toEqual([{ message: expect.stringContaining(field) }]);
  },
);

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
])('a request with %s = %j is rejected with 400 and an error that names the field', async (field, value) => {
  const { status, body } = await create(buildSessionRequest({ [field.replace(/\[.*/, '')]: value }));
  expect([status, body.status]).toEqual([400, 'BadRequest']);
  expect(body.errors).toEqual([{ message: expect.stringContaining(field) }]);
});

test('the response names every invalid field', async () => {
  const { body } = await create(buildSessionRequest({ amount: 0, origin: '', returnUrl: undefined }));
  expect((body.errors as { message: string }[]).map(({ message }) => message.split(' ')[0]).sort()).toEqual([
    'amount',
    'origin',
    'returnUrl',
  ]);
});

test('the response names malformed fields and rejected URLs, in the order of the API documentation', async () => {
  const invalidFields = {
    cancelUrl: 'http://shop.example/cart',
    returnUrl: 'shop.example',
    notificationUrl: '',
    amount: 0,
    requestId: 7,
  };
  const rejectedFields = async (request: object, headers = merchant.headers): Promise<string[]> => {
    const { status, body } = await create(request, headers);
    expect([status, Object.keys(body as object)]).toEqual([400, ['status', 'errors']]);
    for (const error of body.errors as object[]) expect(Object.keys(error)).toEqual(['message']);
    return (body.errors as { message: string }[]).map(({ message }) => message.split(' ')[0]!);
  };
  const fields = ['requestId', 'amount', 'notificationUrl', 'returnUrl', 'cancelUrl'];
  expect(await rejectedFields(buildSessionRequest(invalidFields))).toEqual(fields);
  expect(
    await rejectedFields(Object.fromEntries(Object.entries(buildSessionRequest(invalidFields)).toReversed())),
  ).toEqual(fields);

  merchant = await gateway.createMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
  const requestWithForeignUrls = buildSessionRequest({
    amount: 0,
    returnUrl: 'https://evil.example/',
    cancelUrl: 'https://evil.example/',
  });
  const { 'x-api-key': _, ...keyless } = merchant.headers;
  expect(await rejectedFields(requestWithForeignUrls, keyless)).toEqual(['amount', 'returnUrl', 'cancelUrl']);
  expect(await rejectedFields(requestWithForeignUrls)).toEqual(['amount']);
});

test('http URLs with a loopback host are accepted only in development', async () => {
  const loopbackUrls = {
    notificationUrl: 'http://127.0.0.1:8080/hook',
    returnUrl: 'http://localhost/x',
    cancelUrl: 'http://[::1]/x',
  };
  expect((await create(buildSessionRequest(loopbackUrls))).status).toBe(201);
  const production = await startGateway({ SVC_ENVIRONMENT: 'production' });
  const { headers } = await production.createMerchant();
  const { status, body } = await production.call('POST', '/api/v3.1/sessions', {
    headers,
    payload: buildSessionRequest(loopbackUrls),
  });
  expect([status, body.errors]).toEqual([
    400,
    Object.keys(loopbackUrls).map((field) => ({ message: expect.stringContaining(field) })),
  ]);
  await production.stop();
});

describe('authentication of callers (A8)', () => {
  const headersWithout = (name: string): Record<string, string> =>
    Object.fromEntries(Object.entries(merchant.headers).filter(([key]) => key !== name));

  test('a request with the key of the merchant instead of the key of the site is accepted', async () => {
    expect(
      (await create(buildSessionRequest(), { ...merchant.headers, 'x-api-key': merchant.merchantKey })).status,
    ).toBe(201);
  });

  test('a request with a missing or wrong key, merchant or site gets a 401, even if its body is invalid', async () => {
    const otherMerchant = await gateway.createMerchant();
    const invalidHeaders = [
      headersWithout('x-api-key'),
      headersWithout('merchantid'),
      headersWithout('merchantsiteid'),
      { ...merchant.headers, 'x-api-key': 'nonsense' },
      { ...merchant.headers, 'x-api-key': newApiKey('site', 'test') },
      { ...merchant.headers, 'x-api-key': otherMerchant.siteKey },
      { ...merchant.headers, merchantsiteid: String(otherMerchant.siteId) },
      { ...otherMerchant.headers, merchantid: String(merchant.merchantId) },
      { ...merchant.headers, merchantid: '999999' },
      { ...merchant.headers, merchantid: "1' OR '1'='1" },
    ];
    for (const headers of invalidHeaders) {
      const { status, body } = await create({ amount: 'bad' }, headers);
      expect([status, body]).toEqual([401, { status: 'Unauthorized', errors: [{ message: expect.any(String) }] }]);
    }
  });

  test('a site that needs no key accepts a request without a key, but then only URLs with its allowed hosts', async () => {
    merchant = await gateway.createMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
    expect((await create(buildSessionRequest(), headersWithout('x-api-key'))).status).toBe(201);
    const { status, body } = await create(
      buildSessionRequest({ notificationUrl: 'https://evil.example/hook' }),
      headersWithout('x-api-key'),
    );
    expect([status, body.errors]).toEqual([400, [{ message: expect.stringContaining('notificationUrl') }]]);
    expect((await create(buildSessionRequest({ notificationUrl: 'https://elsewhere.example/hook' }))).status).toBe(201);
    expect(
      (await create(buildSessionRequest(), { ...merchant.headers, 'x-api-key': newApiKey('site', 'test') })).status,
    ).toBe(401);
  });

  test('calls without a key are rate limited by IP address', async () => {
    merchant = await gateway.createMerchant({ requireApiKey: false, allowedHosts: ['shop.example'] });
    const responses = [];
    for (let call = 0; call < CALLS_PER_MINUTE + 2; call++)
      responses.push(await create(buildSessionRequest(), headersWithout('x-api-key')));
    const refused = responses.at(-1)!;
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    // A call to another route, or a header with another IP address, does not bypass the limit.
    const otherRoute = await gateway.call('GET', '/api/v3/payments?sessionId=x', {
      headers: { ...headersWithout('x-api-key'), 'x-forwarded-for': '203.0.113.9' },
    });
    expect(otherRoute.status).toBe(429);
    expect((await create(buildSessionRequest())).status).toBe(201);
  });
});

test('a body that is not a JSON object is rejected with 400, and a body that is too large with 413, in the error format of the API', async () => {
  const headers = { ...merchant.headers, 'content-type': 'application/json' };
  const reasonsByBody = {
    '{': 'is not valid JSON',
    '': 'is not valid JSON',
    '[]': 'JSON object',
    '"x"': 'JSON object',
    null: 'JSON object',
  };
  for (const [payload, reason] of Object.entries(reasonsByBody)) {
    const { status, body } = await gateway.call('POST', '/api/v3.1/sessions', { headers, payload });
    const errors = [{ message: expect.stringContaining(reason) }];
    expect([payload, status, body]).toEqual([payload, 400, { status: 'BadRequest', errors }]);
  }
  const { status, body } = await create(buildSessionRequest({ origin: 'x'.repeat(300_000) }));
  expect([status, body.status]).toEqual([413, 'BadRequest']);
  expect((await gateway.call('GET', '/nowhere')).body).toMatchObject({ status: 'NotFound' });
});

describe('a request to cancel a session (H2)', () => {
  const cancel = (sessionId: string, headers = merchant.headers) =>
    gateway.call('DELETE', `/api/v3.1/sessions/${sessionId}`, { headers });

  test('closes the payable and cancels the session; other merchants get a 404', async () => {
    const sessionId = await gateway.createSession(merchant);
    const responder = await gateway.broker.respond(ClosePayableV1.name, () =>
      Promise.resolve({ ok: true, reply: { payableId: sessionId, state: 'closed', version: 2, paymentCount: 0 } }),
    );
    const otherMerchant = await gateway.createMerchant();
    expect((await cancel(sessionId, otherMerchant.headers)).status).toBe(404);
    expect((await cancel(randomUUID())).status).toBe(404);
    expect((await cancel('nonsense')).status).toBe(404);
    const { status, body } = await cancel(sessionId);
    expect([status, body]).toEqual([200, { status: 'Success', errors: [] }]);
    expect((await gateway.call('GET', `/pay/${sessionId}/state`)).body).toMatchObject({ state: 'cancelled' });
    await responder.close();
  });

  test('is rejected while a payment is in progress', async () => {
    const sessionId = await gateway.createSession(merchant);
    const responder = await gateway.broker.respond(ClosePayableV1.name, () =>
      Promise.resolve({
        ok: false,
        code: 'payment.in-progress',
        message: 'A payment is already in progress.',
        fields: [],
      }),
    );
    expect((await cancel(sessionId)).status).toBe(409);
    await responder.close();
  });
});

test('an event with an older version of a payment does not replace the newer version', async () => {
  const sessionId = await gateway.createSession(merchant);
  const payable = await gateway.findPublishedPayable(sessionId);
  const paid = buildPayment(payable, { version: 3 });
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

test('a payment of an invoice changes no session, and does not affect payments of sessions in the same delivery', async () => {
  const sessionId = await gateway.createSession(merchant);
  const paid = buildPayment(await gateway.findPublishedPayable(sessionId), { version: 3 });
  const invoiceReference = randomUUID();
  const source = { kind: 'invoice' as const, invoiceReference, siteReference: 'TILL-1', code: '0'.repeat(20) };
  const invoicePayment = { ...paid, paymentReference: newPaymentReference(new Date()), source };
  await gateway.deliver(anEvent(PaymentSucceededV1, 'i', 2, invoicePayment), anEvent(PaymentSucceededV1, 'p', 2, paid));
  expect((await gateway.call('GET', `/pay/${sessionId}/state`)).body).toMatchObject({ state: 'succeeded', version: 3 });
  const deadLetters = await gateway.call('GET', '/admin/v1/dead-letters/hosted-gateway', {
    headers: { 'x-admin-key': ADMIN_KEY },
  });
  expect(deadLetters.body.deadLetters).toEqual([]);
});

test('administrators can list dead letters of this service and replay them', async () => {
  const sessionId = await gateway.createSession(merchant);
  const paid = buildPayment(await gateway.findPublishedPayable(sessionId), { version: 3 });
  const invalidEvent = anEvent(PaymentSucceededV1, 'p', 2, {
    ...paid,
    payable: { ...paid.payable, payableId: 'no uuid' },
  });
  await gateway.deliver(invalidEvent);

  const deadLettersUrl = '/admin/v1/dead-letters/hosted-gateway';
  const headers = { 'x-admin-key': ADMIN_KEY };
  expect((await gateway.call('GET', deadLettersUrl)).status).toBe(401);
  expect((await gateway.call('GET', deadLettersUrl, { headers })).body.deadLetters).toEqual([
    expect.objectContaining({ messageId: invalidEvent.id, type: 'payment.succeeded.v1' }),
  ]);
  expect((await gateway.call('POST', `${deadLettersUrl}/${invalidEvent.id}/replay`, { headers })).status).toBe(500);
  expect((await gateway.call('POST', `${deadLettersUrl}/${randomUUID()}/replay`, { headers })).status).toBe(404);

  await gateway.dataSource.query(
    `UPDATE dead_letters SET envelope = jsonb_set(envelope, '{payload,payable,payableId}', to_jsonb($1::text))`,
    [sessionId],
  );
  expect((await gateway.call('POST', `${deadLettersUrl}/${invalidEvent.id}/replay`, { headers })).status).toBe(204);
  expect((await gateway.call('GET', `/pay/${sessionId}/state`)).body).toMatchObject({ state: 'succeeded' });
  expect((await gateway.call('GET', deadLettersUrl, { headers })).body.deadLetters).toEqual([]);
});
