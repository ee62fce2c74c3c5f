/** A client that repeats a request after a lost response gets the invoice of the first request (D6, C7). */
import { randomUUID } from 'node:crypto';
import {
  buildInvoiceRequest,
  type Decoder,
  type HttpResponse,
  type Merchant,
  startDecoder,
} from '../../test/decoder.js';
import { InvoiceRequestRepository } from './invoice-request.repository.js';

const HOUR_MS = 3_600_000;
const RETENTION_MS = 72 * HOUR_MS;
/** Longer than the retention of requests, so that an invoice may be open when its request is forgotten. */
const LIFETIME_MS = 100 * HOUR_MS;

let decoder: Decoder;
let merchant: Merchant;
beforeAll(async () => {
  decoder = await startDecoder({ SVC_INVOICE_LIFETIME_SECONDS: String(LIFETIME_MS / 1_000) });
});
beforeEach(async () => {
  merchant = await decoder.createMerchant();
});
afterAll(() => decoder.stop());

const post = (payload: object, idempotencyKey?: string, site = merchant): Promise<HttpResponse> =>
  decoder.call('POST', `${site.path}/invoices`, {
    headers: { ...site.headers, ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }) },
    payload,
  });
const summary = ({ status, headers, body }: HttpResponse): unknown[] => [
  status,
  headers['idempotency-replayed'],
  body.reference,
  body.state,
];
const pay = async (reference: string): Promise<void> => decoder.publishPayable(decoder.payables.set(reference, 'paid'));
const close = (externalReference: string): Promise<HttpResponse> =>
  decoder.call('DELETE', `${merchant.path}/invoices?externalReference=${externalReference}`, {
    headers: merchant.headers,
  });
const openPayables = (): string[] =>
  decoder.payables.opened
    .filter(({ siteId, payableId }) => siteId === merchant.siteId && decoder.payables.getState(payableId) === 'open')
    .map(({ payableId }) => payableId);

let dates = 0;
/** A date that no other request has, so that the body is not a repeat. */
const newDate = (): { createdUTCDate: string } => ({
  createdUTCDate: new Date(Date.UTC(2027, 0, 1, 0, 0, dates++)).toISOString(),
});

/** A body whose repeat is recognised by the body, or by the key although its date differs. */
const REPEATS: readonly [name: string, repeat: (payload: object, key: string) => [payload: object, key?: string]][] = [
  ['the same body', (payload) => [payload]],
  ['the same body with another key', (payload) => [payload, randomUUID()]],
  ['the same key with another date', (payload, key) => [{ ...payload, ...newDate() }, key]],
];

describe.each(REPEATS)('a request with %s', (_, repeat) => {
  test('returns the paid invoice, and creates no second debt', async () => {
    const [payload, key] = [buildInvoiceRequest(), randomUUID()];
    const { body } = await post(payload, key);
    await pay(body.reference as string);
    expect(summary(await post(...repeat(payload, key)))).toEqual([200, 'true', body.reference, 'closed']);
    expect(openPayables()).toEqual([]);
  });

  test('returns the closed invoice', async () => {
    const [payload, key] = [buildInvoiceRequest({ externalReference: 'basket-1' }), randomUUID()];
    const { body } = await post(payload, key);
    expect((await close('basket-1')).status).toBe(204);
    expect(summary(await post(...repeat(payload, key)))).toEqual([200, 'true', body.reference, 'closed']);
  });

  test('returns the replaced invoice, and does not replace the newer invoice', async () => {
    const [payload, key] = [buildInvoiceRequest(), randomUUID()];
    const { body } = await post(payload, key);
    const newer = await post({ ...payload, amount: 500 });
    expect(summary(await post(...repeat(payload, key)))).toEqual([200, 'true', body.reference, 'closed']);
    expect(openPayables()).toEqual([newer.body.reference]);
  });

  test('returns the open invoice during its payment', async () => {
    const [payload, key] = [buildInvoiceRequest(), randomUUID()];
    const { body } = await post(payload, key);
    await decoder.publishPayable(decoder.payables.set(body.reference as string, 'reserved'));
    expect(summary(await post(...repeat(payload, key)))).toEqual([200, 'true', body.reference, 'open']);
  });

  test('is a repeat for 72 hours, and afterwards a new request', async () => {
    const [payload, key] = [buildInvoiceRequest(), randomUUID()];
    const { body } = await post(payload, key);
    await pay(body.reference as string);
    decoder.clock.advance(RETENTION_MS - 1);
    // The repeat with another key does not prolong the retention of the body.
    expect(summary(await post(...repeat(payload, key)))).toEqual([200, 'true', body.reference, 'closed']);
    decoder.clock.advance(1);
    const next = await post(...repeat(payload, key));
    expect([next.status, next.body.reference === body.reference]).toEqual([201, false]);
    expect(summary(await post(...repeat(payload, key)))).toEqual([200, 'true', next.body.reference, 'open']);
  });

  test('creates one invoice if it is sent twenty times at once', async () => {
    const [payload, key] = [buildInvoiceRequest(), randomUUID()];
    const responses = await Promise.all(
      Array.from({ length: 20 }, (__, index) => (index === 0 ? post(payload, key) : post(...repeat(payload, key)))),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(responses.map(({ body }) => body.reference as string)).size).toBe(1);
    expect(openPayables()).toEqual([responses[0]!.body.reference]);
  });
});

describe('a request that returned an invoice is recognised', () => {
  test('by its body, if its key had found the invoice', async () => {
    const [payload, key] = [buildInvoiceRequest(), randomUUID()];
    const { body } = await post(payload, key);
    await pay(body.reference as string);
    const repeated = { ...payload, ...newDate() };
    for (const sentKey of [key, undefined, randomUUID()])
      expect(summary(await post(repeated, sentKey))).toEqual([200, 'true', body.reference, 'closed']);
    expect(openPayables()).toEqual([]);
  });

  test('by the body of an expired invoice, if its key had found a newer invoice', async () => {
    const [payload, key] = [buildInvoiceRequest(), randomUUID()];
    const { body: expired } = await post(payload);
    decoder.clock.advance(1);
    await decoder.dataSource.query('UPDATE invoices SET expires_at = $2 WHERE invoice_id = $1', [
      expired.reference,
      decoder.clock.now(),
    ]);
    const { body } = await post({ ...payload, ...newDate() }, key);
    expect(summary(await post(payload, key))).toEqual([200, 'true', body.reference, 'open']);
    await pay(body.reference as string);
    expect(summary(await post(payload))).toEqual([200, 'true', body.reference, 'closed']);
    expect(openPayables()).toEqual([]);
  });
});

test('the same body of an invoice that is open for longer than 72 hours returns that invoice', async () => {
  const payload = buildInvoiceRequest();
  const { body } = await post(payload);
  decoder.clock.advance(RETENTION_MS);
  const key = randomUUID();
  for (const sentKey of [undefined, key, key])
    expect(summary(await post(payload, sentKey))).toEqual([200, 'true', body.reference, 'open']);
  await pay(body.reference as string);
  for (const sentKey of [undefined, key])
    expect(summary(await post(payload, sentKey))).toEqual([200, 'true', body.reference, 'closed']);
});

test('a key that is older than 72 hours can be used again, also for an invoice that is still open', async () => {
  const [payload, key] = [buildInvoiceRequest(), randomUUID()];
  const { body } = await post(payload, key);
  decoder.clock.advance(RETENTION_MS);
  expect(summary(await post(payload, key))).toEqual([200, 'true', body.reference, 'open']);
  expect((await post({ ...payload, amount: 1 }, key)).status).toBe(409);
});

test('insertIfAbsent does not change a request of the last 72 hours', async () => {
  const { body } = await post(buildInvoiceRequest());
  const owner = { merchantId: merchant.merchantId, siteId: merchant.siteId, mode: 'test' as const };
  const requests = decoder.service.app.get(InvoiceRequestRepository);
  const insert = (fingerprint: string): Promise<boolean> =>
    requests.insertIfAbsent(
      owner,
      [{ requestId: 'key:1', requestFingerprint: fingerprint.repeat(64) }],
      body.reference as string,
    );
  expect([await insert('a'), await insert('b')]).toEqual([true, false]);
  const [stored] = await requests.find(owner, [{ requestId: 'key:1', requestFingerprint: '' }]);
  expect(stored?.requestFingerprint).toBe('a'.repeat(64));
});

describe('a request with an Idempotency-Key', () => {
  test('needs no externalReference', async () => {
    const payload = buildInvoiceRequest({ externalReference: undefined });
    const { body } = await post(payload, 'sale-1');
    await pay(body.reference as string);
    expect(summary(await post(payload, 'sale-1'))).toEqual([200, 'true', body.reference, 'closed']);
    expect((await post(payload, 'sale-2')).status).toBe(201);
    expect((await post(payload)).status).toBe(201);
    expect((await post(payload)).status).toBe(201);
  });

  test.each([
    ['amount', { amount: 1 }],
    ['externalReference', { externalReference: 'another' }],
    ['siteReference', { siteReference: 'TILL-2' }],
    ['origin', { origin: 'another' }],
    ['originReference', { originReference: 'another' }],
    ['lineItems', { lineItems: [{ sku: 's', unitPrice: 1 }] }],
  ])('causes a 409 if it has another %s than the first request, and changes nothing', async (_, changes) => {
    const payload = buildInvoiceRequest();
    const { body } = await post(payload, 'sale-1');
    const { status, headers, body: problem } = await post({ ...payload, ...changes }, 'sale-1');
    expect([status, problem.code, headers['retry-after']]).toEqual([409, 'request.idempotency-conflict', undefined]);
    expect(openPayables()).toEqual([body.reference]);
  });

  test('causes a 409 for another body, also if its first response was an existing invoice', async () => {
    const payload = buildInvoiceRequest();
    await post(payload);
    expect((await post(payload, 'sale-1')).status).toBe(200);
    expect((await post({ ...payload, amount: 1 }, 'sale-1')).status).toBe(409);
  });

  test('belongs to its merchant, site and mode', async () => {
    const { merchantId, siteId } = merchant;
    const others = [
      await decoder.createMerchant({ merchantId, siteId, mode: 'live' }),
      await decoder.createMerchant({ merchantId }),
      await decoder.createMerchant({ siteId }),
    ];
    const payload = buildInvoiceRequest({ externalReference: undefined });
    const { body } = await post(payload, 'sale-1');
    const references = [body.reference as string];
    for (const other of others) {
      const response = await post({ ...payload, amount: 1 }, 'sale-1', other);
      expect(response.status).toBe(201);
      references.push(response.body.reference as string);
    }
    expect(new Set(references).size).toBe(4);
    expect((await post(payload, 'sale-1')).body.reference).toBe(body.reference);
  });

  test.each(['', 'x'.repeat(101)])('has 1 to 100 characters: %j', async (key) => {
    const before = decoder.payables.opened.length;
    const { status, body } = await post(buildInvoiceRequest(), key);
    expect([status, body.errors]).toMatchObject([400, [{ field: 'Idempotency-Key' }]]);
    expect(decoder.payables.opened).toHaveLength(before);
    expect((await post(buildInvoiceRequest(), 'x'.repeat(100))).status).toBe(201);
  });
});

test.each([
  ['the same key', randomUUID(), { createdUTCDate: '2027-01-01T00:00:00Z' }],
  ['the same body', undefined, {}],
])(
  'a request with %s that was accepted before the first invoice was stored and paid returns it',
  async (_, key, changes) => {
    const payload = buildInvoiceRequest();
    const { body } = await post(payload, key);
    await pay(body.reference as string);
    // The second request has read the tables before the first request stored its invoice.
    const find = jest.spyOn(decoder.service.app.get(InvoiceRequestRepository), 'find').mockResolvedValueOnce([]);
    expect(summary(await post({ ...payload, ...changes }, key))).toEqual([200, 'true', body.reference, 'closed']);
    expect(find).toHaveBeenCalledTimes(2);
    find.mockRestore();
    expect(openPayables()).toEqual([]);
  },
);

test('one of several concurrent requests with one key and different bodies succeeds', async () => {
  const responses = await Promise.all(
    Array.from({ length: 6 }, (_, index) => post(buildInvoiceRequest({ amount: index + 1 }), 'sale-1')),
  );
  expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
  expect(openPayables()).toHaveLength(1);
});

test('deleteExpired deletes only requests that are older than 72 hours', async () => {
  const requests = decoder.service.app.get(InvoiceRequestRepository);
  const owner = { merchantId: merchant.merchantId, siteId: merchant.siteId, mode: 'test' as const };
  const list = (): Promise<{ key: string }[]> =>
    decoder.dataSource.query(
      `SELECT substr(request_id, 5) AS key FROM invoice_requests WHERE site_id = $1 AND request_id LIKE 'key:%' ORDER BY 1`,
      [owner.siteId],
    );
  await post(buildInvoiceRequest(), 'a');
  decoder.clock.advance(1);
  await post(buildInvoiceRequest(), 'b');
  decoder.clock.advance(RETENTION_MS - 1);
  while (await requests.deleteExpired());
  expect(await list()).toEqual([{ key: 'b' }]);
});
