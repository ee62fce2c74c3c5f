import { randomUUID } from 'node:crypto';
import { hashApiKey } from '@svc/auth';
import { ApiKeyChangedV1, InvoiceCreatedV1, PayableClosedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { buildInvoiceRequest, CODES_URL, type Decoder, type Merchant, startDecoder } from '../../test/decoder.js';

let decoder: Decoder;
let merchant: Merchant;
beforeAll(async () => {
  decoder = await startDecoder();
});
beforeEach(async () => {
  merchant = await decoder.createMerchant();
});
afterAll(() => decoder.stop());

const postInvoice = (payload: unknown, headers: Record<string, string> = {}) =>
  decoder.call('POST', `${merchant.path}/invoices`, { headers: { ...merchant.headers, ...headers }, payload });
const closeInvoice = (externalReference: string) =>
  decoder.call('DELETE', `${merchant.path}/invoices?externalReference=${encodeURIComponent(externalReference)}`, {
    headers: merchant.headers,
  });
const getInvoice = (reference: string, headers: Record<string, string> = {}) =>
  decoder.call('GET', `${merchant.path}/invoices/${reference}`, { headers: { ...merchant.headers, ...headers } });

test('control characters in texts that are only shown become spaces, but not in references', async () => {
  const item = { name: 'Flat\twhite\u0000', sku: 'FW', unitPrice: 4500, categories: ['Hot\ndrinks'] };
  const created = await postInvoice(buildInvoiceRequest({ origin: 'Karoo\tPOS', lineItems: [item] }));
  expect(created).toMatchObject({
    status: 201,
    body: { origin: 'Karoo POS', lineItems: [{ name: 'Flat white ', categories: ['Hot drinks'] }] },
  });
  for (const change of [{ externalReference: 'a\tb' }, { lineItems: [{ ...item, sku: 'F\tW' }] }])
    expect((await postInvoice(buildInvoiceRequest(change))).status).toBe(400);
});

test('a new invoice is published, and its payable is open when the till gets the response', async () => {
  const payload = buildInvoiceRequest({
    externalReference: 'basket 1|é',
    originReference: 'o-1',
    lineItems: [{ name: 'Flat white', sku: 'FW', unitPrice: 4500, quantity: 0.5, categories: ['Coffee'] }],
    table: 'a field that is not in the specification',
  });
  const { status, body, headers } = await postInvoice(payload);
  expect(status).toBe(201);
  expect(headers['reference']).toBe(body.reference);
  expect(body).toEqual({
    reference: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
    invoiceReference: body.reference,
    externalReference: 'basket 1|é',
    siteReference: 'TILL-1',
    currencyISOCode: 'ZAR',
    amount: 12345,
    lineItems: [{ name: 'Flat white', sku: 'FW', unitPrice: '4500', quantity: 0.5, categories: ['Coffee'] }],
    createdUTCDate: '2026-03-01T09:59:58.000Z',
    origin: 'Karoo POS 4.2',
    originReference: 'o-1',
    state: 'open',
    code: expect.stringMatching(new RegExp(`^${CODES_URL}/c/\\d{20}$`)),
    expiresUTCDate: decoder.clock.later(3_600_000).toISOString(),
  });
  expect(decoder.payables.getState(body.reference)).toBe('open');

  const [created] = (await decoder.published(InvoiceCreatedV1)).filter(
    ({ aggregateId }) => aggregateId === body.reference,
  );
  expect(created!.payload).toEqual({
    payable: decoder.payables.opened.find(({ payableId }) => payableId === body.reference),
    origin: 'Karoo POS 4.2',
    originReference: 'o-1',
    createdUTCDate: '2026-03-01T09:59:58.000Z',
    lineItems: body.lineItems,
  });
});

test('Accept selects JSON, text or a QR code as response, always with the header reference', async () => {
  const payload = buildInvoiceRequest();
  const asJson = await postInvoice(payload);
  const asText = await postInvoice(payload, { accept: 'text/plain' });
  const asSvg = await postInvoice(payload, { accept: 'image/svg+xml, application/json;q=0.5' });
  expect(asText.text).toBe(asJson.body.code);
  expect(asText.headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(asSvg.text).toMatch(/^<svg /);
  expect(asSvg.headers['content-type']).toBe('image/svg+xml; charset=utf-8');
  for (const { headers } of [asText, asSvg]) expect(headers['reference']).toBe(asJson.body.reference);
  for (const accept of [
    '*/*',
    '',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8;q=0.5, */*;q=0.1',
  ])
    expect((await postInvoice(payload, { accept })).body).toEqual(asJson.body);
  expect((await postInvoice(payload, { accept: 'text/plain; charset=utf-8' })).text).toBe(asJson.body.code);
  expect((await getInvoice(asJson.body.reference as string, { accept: 'text/plain' })).text).toBe(asJson.body.code);
});

test('a body that has a key twice is rejected with 400 and an error that names the key', async () => {
  const request = buildInvoiceRequest({ lineItems: [{ sku: 'A', unitPrice: 1 }] });
  const text = JSON.stringify(request).replace('"unitPrice":1', '"unitPrice":1,"unitPrice":2');
  const { status, body } = await postInvoice(text, { 'content-type': 'application/json' });
  expect([status, body.errors]).toEqual([
    400,
    [expect.objectContaining({ field: 'lineItems[0].unitPrice', message: expect.stringContaining('twice') })],
  ]);
});

test('an optional field that is null is a missing field', async () => {
  const item = { sku: 'A', unitPrice: 1 };
  const nulls = {
    externalReference: null,
    originReference: null,
    lineItems: [{ ...item, name: null, quantity: null }],
  };
  const { status, body } = await postInvoice(buildInvoiceRequest({ ...nulls }));
  expect(status).toBe(201);
  expect(body).not.toHaveProperty('externalReference');
  const { body: same } = await postInvoice(buildInvoiceRequest({ externalReference: undefined, lineItems: [item] }));
  expect(same.lineItems).toEqual(body.lineItems);
});

test('an unsupported media type is rejected before anything is created', async () => {
  const before = decoder.payables.opened.length;
  const rejected = await postInvoice(buildInvoiceRequest(), { accept: 'application/pdf' });
  expect([rejected.status, rejected.headers['content-type']]).toEqual([406, 'application/problem+json; charset=utf-8']);
  expect(decoder.payables.opened).toHaveLength(before);
});

test('a repeated request returns the same invoice, and a different request replaces it', async () => {
  const payload = buildInvoiceRequest();
  const first = await postInvoice(payload);
  const repeated = await postInvoice({ ...payload, note: 'ignored' });
  expect([repeated.status, repeated.headers['idempotency-replayed'], repeated.body]).toEqual([200, 'true', first.body]);

  const replacement = await postInvoice({ ...payload, amount: 500 });
  expect([replacement.status, replacement.headers['idempotency-replayed']]).toEqual([201, undefined]);
  expect(replacement.body.reference).not.toBe(first.body.reference);
  expect(decoder.payables.getState(first.body.reference as string)).toBe('closed');
  expect((await getInvoice(first.body.reference as string)).body).toMatchObject({ state: 'closed', amount: 12345 });
  expect((await getInvoice(replacement.body.reference as string)).body).toMatchObject({ state: 'open', amount: 500 });
});

test('a replica whose clock is behind can replace an invoice, and the open replacement is found afterwards', async () => {
  const payload = buildInvoiceRequest({ externalReference: 'skew' });
  const first = await postInvoice(payload);
  decoder.clock.advance(-5_000);
  const second = await postInvoice({ ...payload, amount: 2 });
  decoder.clock.advance(5_000);
  expect(second.status).toBe(201);
  expect((await postInvoice({ ...payload, amount: 2 })).body).toEqual(second.body);
  expect((await closeInvoice('skew')).status).toBe(204);
  expect((await getInvoice(second.body.reference as string)).body.state).toBe('closed');
  expect((await getInvoice(first.body.reference as string)).body.state).toBe('closed');
});

test('two requests without externalReference create two invoices', async () => {
  const payload = buildInvoiceRequest({ externalReference: undefined });
  const [first, second] = [await postInvoice(payload), await postInvoice(payload)];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(first.body.reference).not.toBe(second.body.reference);
  expect(first.body).not.toHaveProperty('externalReference');
});

test('during a payment an invoice cannot be replaced or closed, but a repeated request returns it', async () => {
  const payload = buildInvoiceRequest({ externalReference: 'basket-1' });
  const { body } = await postInvoice(payload);
  decoder.payables.set(body.reference as string, 'reserved');

  for (const rejected of [await postInvoice({ ...payload, amount: 1 }), await closeInvoice('basket-1')]) {
    expect([rejected.status, rejected.headers['retry-after']]).toEqual([409, '2']);
    expect(rejected.body.errors[0].errorReference).toBe('23');
  }
  expect((await postInvoice(payload)).body).toEqual(body);
});

test('a paid invoice is not replaced, and another body can use its externalReference after the event of the payment', async () => {
  const payload = buildInvoiceRequest({ externalReference: 'basket-2' });
  const { body } = await postInvoice(payload);
  const paid = decoder.payables.set(body.reference as string, 'paid');
  for (const rejected of [await postInvoice({ ...payload, amount: 1 }), await closeInvoice('basket-2')])
    expect([rejected.status, rejected.body.errors[0].errorReference]).toEqual([409, '20']);

  await decoder.publishPayable(paid);
  expect((await getInvoice(body.reference as string)).body.state).toBe('closed');
  expect((await closeInvoice('basket-2')).status).toBe(204);
  const next = await postInvoice({ ...payload, createdUTCDate: '2026-03-01T10:00:00.000Z' });
  expect(next.status).toBe(201);
  expect(next.body.reference).not.toBe(body.reference);
});

test('an invoice can be closed, and closing it again changes nothing', async () => {
  const { body } = await postInvoice(buildInvoiceRequest({ externalReference: 'köln & co' }));
  const closed = await closeInvoice('köln & co');
  expect([closed.status, closed.text]).toEqual([204, '']);
  expect(decoder.payables.getState(body.reference as string)).toBe('closed');
  expect((await getInvoice(body.reference as string)).body.state).toBe('closed');
  expect((await closeInvoice('köln & co')).status).toBe(204);
  expect((await closeInvoice('unknown-reference')).status).toBe(404);
  const withoutReference = await decoder.call('DELETE', `${merchant.path}/invoices`, { headers: merchant.headers });
  expect(withoutReference).toMatchObject({ status: 400, body: { errors: [{ field: 'externalReference' }] } });
});

test('an invoice expires after an hour, and the same request then creates a new invoice', async () => {
  const payload = buildInvoiceRequest();
  const { body } = await postInvoice(payload);
  decoder.clock.advance(3_600_000);
  const expired = await getInvoice(body.reference as string);
  expect([expired.status, expired.body.errors[0].errorReference]).toEqual([410, '20']);

  const next = await postInvoice(payload);
  expect(next.status).toBe(201);
  expect(decoder.payables.getState(body.reference as string)).toBe('closed');
  // The expired invoice was closed because of the new invoice, but its state stays expired.
  expect((await getInvoice(body.reference as string)).status).toBe(410);
  expect((await postInvoice(payload)).body.reference).toBe(next.body.reference);
});

test('a request with the Idempotency-Key of an expired invoice creates no second invoice, and causes a 410', async () => {
  const payload = buildInvoiceRequest();
  const { body } = await postInvoice(payload, { 'idempotency-key': 'sale-1' });
  decoder.clock.advance(3_600_000);
  const repeated = await postInvoice(payload, { 'idempotency-key': 'sale-1' });
  expect([repeated.status, repeated.body.code]).toEqual([410, 'payable.expired']);
  const next = await postInvoice(payload, { 'idempotency-key': 'sale-2' });
  expect([next.status, next.body.reference === body.reference]).toEqual([201, false]);
});

test('one of twenty identical concurrent requests creates the invoice, and the others return it', async () => {
  const payload = buildInvoiceRequest();
  const responses = await Promise.all(Array.from({ length: 20 }, () => postInvoice(payload)));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([...Array<number>(19).fill(200), 201]);
  expect(new Set(responses.map(({ body }) => body.reference as string)).size).toBe(1);
  const openedPayables = decoder.payables.opened.filter(({ siteId }) => siteId === merchant.siteId);
  expect(openedPayables.filter(({ payableId }) => decoder.payables.getState(payableId) === 'open')).toHaveLength(1);
});

test('after concurrent different requests with one externalReference, exactly one invoice is open', async () => {
  const responses = await Promise.all(
    Array.from({ length: 6 }, (_, i) => postInvoice(buildInvoiceRequest({ externalReference: 'race', amount: i + 1 }))),
  );
  const created = responses.filter(({ status }) => status === 201);
  expect(created.length).toBeGreaterThan(0);
  const rejected = responses.filter(({ status }) => status !== 201);
  // Error 20: a concurrent request had already replaced the invoice to replace. Error 40: in every attempt, a
  // concurrent request stored its invoice first.
  const expectedErrors = [
    [409, '20'],
    [409, '40'],
  ];
  for (const { status, body } of rejected)
    expect(expectedErrors).toContainEqual([status, body.errors[0].errorReference]);
  const states = await Promise.all(
    created.map(async ({ body }) => (await getInvoice(body.reference as string)).body.state),
  );
  expect(states.toSorted()).toEqual([...Array<string>(created.length - 1).fill('closed'), 'open']);
});

test('while payment-processor is stopped, creating an invoice causes a 503, and existing invoices can be read', async () => {
  const { body } = await postInvoice(buildInvoiceRequest());
  await decoder.payables.stop();
  try {
    const payload = buildInvoiceRequest();
    const rejected = await postInvoice(payload);
    expect(rejected.status).toBe(503);
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0);
    expect((await getInvoice(body.reference as string)).body).toEqual(body);
    await decoder.payables.start();
    expect((await postInvoice(payload)).status).toBe(201);
  } finally {
    // Stops payment-processor first, because it may have been started again above.
    await decoder.payables.stop();
    await decoder.payables.start();
  }
});

test('a paid invoice stays closed when its events are repeated or reordered', async () => {
  const { body } = await postInvoice(buildInvoiceRequest());
  const reserved = decoder.payables.set(body.reference as string, 'reserved');
  const paid = decoder.payables.set(body.reference as string, 'paid');
  for (const payable of [paid, reserved, paid, reserved]) await decoder.publishPayable(payable);
  expect((await getInvoice(body.reference as string)).body.state).toBe('closed');
  // An event of a payable that is not an invoice of this service is accepted.
  const otherPayable = { payableId: randomUUID(), state: 'closed' as const, version: 2, paymentCount: 0 };
  await decoder.deliver(anEvent(PayableClosedV1, otherPayable.payableId, 2, otherPayable));
});

test('an invalid request is rejected with the name of each invalid field, and nothing is created', async () => {
  const before = decoder.payables.opened.length;
  const { status, body, headers } = await postInvoice({
    siteReference: '',
    amount: '12',
    currencyISOCode: 'USD',
    createdUTCDate: '1.3.2026',
    lineItems: [{ unitPrice: -1 }],
  });
  expect([status, headers['content-type']]).toEqual([400, 'application/problem+json; charset=utf-8']);
  expect(body.errors.map(({ field }: { field: string }) => field).toSorted()).toEqual([
    'amount',
    'createdUTCDate',
    'currencyISOCode',
    'lineItems[0].productCode',
    'lineItems[0].unitPrice',
    'origin',
    'siteReference',
  ]);
  expect(body.instance).toBe(headers['x-request-id']);
  expect(decoder.payables.opened).toHaveLength(before);
});

test('500 line items with ten categories each are accepted', async () => {
  const lineItems = Array.from({ length: 500 }, (_, i) => ({
    sku: `s${i}`,
    unitPrice: i,
    quantity: 1,
    name: 'n',
    categories: Array<string>(10).fill('c'),
  }));
  const { status, body } = await postInvoice(buildInvoiceRequest({ lineItems }));
  expect([status, body.lineItems?.length]).toEqual([201, 500]);
});

describe('the invoice API (A7)', () => {
  const create = (headers: Record<string, string>, path = merchant.path) =>
    decoder.call('POST', `${path}/invoices`, { headers, payload: buildInvoiceRequest() });

  test('accepts the key of the site or of the merchant, also as a bearer token', async () => {
    for (const headers of [
      { 'x-api-key': merchant.siteKey },
      { 'x-api-key': merchant.merchantKey },
      { authorization: `Bearer ${merchant.siteKey}` },
    ] as Record<string, string>[])
      expect((await create(headers)).status).toBe(201);
  });

  test.each<[string, () => Record<string, string>]>([
    ['no key', () => ({})],
    ['an unknown key', () => ({ 'x-api-key': `${merchant.siteKey.slice(0, -1)}_` })],
    ['a text that is not a key', () => ({ 'x-api-key': 'secret' })],
    [
      'a wrong x-api-key with a valid bearer token',
      () => ({ 'x-api-key': 'x', authorization: `Bearer ${merchant.siteKey}` }),
    ],
  ])('responds 401 with an empty body to a request with %s, even with an invalid payload', async (_, createHeaders) => {
    const response = await decoder.call('POST', `${merchant.path}/invoices`, { headers: createHeaders(), payload: {} });
    expect([response.status, response.text]).toEqual([401, '']);
  });

  test('responds 403 to a key of another merchant or site, 404 for an unknown site, and 400 for an invalid site id', async () => {
    const otherMerchant = await decoder.createMerchant();
    const otherSite = await decoder.createMerchant({ merchantId: merchant.merchantId });
    expect((await create({ 'x-api-key': otherMerchant.siteKey })).status).toBe(403);
    expect((await create({ 'x-api-key': otherMerchant.merchantKey })).status).toBe(403);
    expect((await create({ 'x-api-key': otherSite.siteKey })).status).toBe(403);
    expect((await create({ 'x-api-key': otherSite.merchantKey })).status).toBe(201);
    const unknownSite = `/business/api/v1/merchants/${merchant.merchantId}/sites/999999`;
    expect((await create({ 'x-api-key': merchant.merchantKey }, unknownSite)).status).toBe(404);
    const invalidSite = `/business/api/v1/merchants/${merchant.merchantId}/sites/x`;
    const response = await create({ 'x-api-key': merchant.merchantKey }, invalidSite);
    expect(response).toMatchObject({ status: 400, body: { errors: [{ field: 'siteId' }] } });
  });

  test('does not return an invoice to a key of the other mode, and rejects a revoked key immediately', async () => {
    const { body } = await create({ 'x-api-key': merchant.siteKey });
    const live = await decoder.createMerchant({ mode: 'live', merchantId: merchant.merchantId });
    const url = `${merchant.path}/invoices/${body.reference}`;
    expect((await decoder.call('GET', url, { headers: { 'x-api-key': live.merchantKey } })).status).toBe(404);

    const [row] = await decoder.dataSource.query<{ key_id: string }[]>(
      `SELECT key_id FROM known_api_keys WHERE hash = $1`,
      [hashApiKey(merchant.siteKey)],
    );
    await decoder.deliver(
      anEvent(ApiKeyChangedV1, row!.key_id, 2, {
        keyId: row!.key_id,
        kind: 'site',
        mode: 'test',
        merchantId: merchant.merchantId,
        siteId: merchant.siteId,
        hash: hashApiKey(merchant.siteKey),
        revoked: true,
      }),
    );
    expect((await create({ 'x-api-key': merchant.siteKey })).status).toBe(401);
  });

  test('responds 404 for an invoice of another site, and for an unknown or invalid reference', async () => {
    const { body } = await create(merchant.headers);
    const otherSite = await decoder.createMerchant({ merchantId: merchant.merchantId });
    for (const reference of [body.reference as string, randomUUID(), 'x', '%00'])
      expect(
        (await decoder.call('GET', `${otherSite.path}/invoices/${reference}`, { headers: otherSite.headers })).status,
      ).toBe(404);
  });
});
