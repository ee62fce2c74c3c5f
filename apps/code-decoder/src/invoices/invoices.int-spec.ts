import { randomUUID } from 'node:crypto';
import { hashApiKey } from '@svc/auth';
import { ApiKeyChangedV1, InvoiceCreatedV1, PayableClosedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { anInvoiceRequest, CODES_URL, type Decoder, type Merchant, startDecoder } from '../../test/decoder.js';

let decoder: Decoder;
let merchant: Merchant;
beforeAll(async () => {
  decoder = await startDecoder();
});
beforeEach(async () => {
  merchant = await decoder.aMerchant();
});
afterAll(() => decoder.stop());

const post = (payload: unknown, headers: Record<string, string> = {}) =>
  decoder.call('POST', `${merchant.path}/invoices`, { headers: { ...merchant.headers, ...headers }, payload });
const close = (externalReference: string) =>
  decoder.call('DELETE', `${merchant.path}/invoices?externalReference=${encodeURIComponent(externalReference)}`, {
    headers: merchant.headers,
  });
const read = (reference: string, headers: Record<string, string> = {}) =>
  decoder.call('GET', `${merchant.path}/invoices/${reference}`, { headers: { ...merchant.headers, ...headers } });

test('a new invoice can be paid when the till gets its response, and its event is published', async () => {
  const payload = anInvoiceRequest({
    externalReference: 'basket 1|é',
    originReference: 'o-1',
    lineItems: [{ name: 'Flat white', sku: 'FW', unitPrice: 4500, quantity: 0.5, categories: ['Coffee'] }],
    table: 'not of the specification',
  });
  const { status, body, headers } = await post(payload);
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
  expect(decoder.payables.stateOf(body.reference)).toBe('open');

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

test('Accept selects the text of the code or the QR code, always with the reference', async () => {
  const payload = anInvoiceRequest();
  const asJson = await post(payload);
  const asText = await post(payload, { accept: 'text/plain' });
  const asSvg = await post(payload, { accept: 'image/svg+xml, application/json;q=0.5' });
  expect(asText.text).toBe(asJson.body.code);
  expect(asText.headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(asSvg.text).toMatch(/^<svg /);
  expect(asSvg.headers['content-type']).toBe('image/svg+xml; charset=utf-8');
  for (const { headers } of [asText, asSvg]) expect(headers['reference']).toBe(asJson.body.reference);
  expect((await post(payload, { accept: '*/*' })).body).toEqual(asJson.body);
  expect((await read(asJson.body.reference as string, { accept: 'text/plain' })).text).toBe(asJson.body.code);
});

test('an unsupported media type is rejected before anything is created', async () => {
  const before = decoder.payables.opened.length;
  const refused = await post(anInvoiceRequest(), { accept: 'application/pdf' });
  expect([refused.status, refused.headers['content-type']]).toEqual([406, 'application/problem+json; charset=utf-8']);
  expect(decoder.payables.opened).toHaveLength(before);
});

test('a repeated request returns the same invoice; a different one replaces it', async () => {
  const payload = anInvoiceRequest();
  const first = await post(payload);
  const again = await post({ ...payload, note: 'ignored' });
  expect([again.status, again.headers['idempotency-replayed'], again.body]).toEqual([200, 'true', first.body]);

  const other = await post({ ...payload, amount: 500 });
  expect([other.status, other.headers['idempotency-replayed']]).toEqual([201, undefined]);
  expect(other.body.reference).not.toBe(first.body.reference);
  expect(decoder.payables.stateOf(first.body.reference as string)).toBe('closed');
  expect((await read(first.body.reference as string)).body).toMatchObject({ state: 'closed', amount: 12345 });
  expect((await read(other.body.reference as string)).body).toMatchObject({ state: 'open', amount: 500 });
});

test('a replica whose clock is behind can replace an invoice too: the open one counts', async () => {
  const payload = anInvoiceRequest({ externalReference: 'skew' });
  const first = await post(payload);
  decoder.clock.advance(-5_000);
  const second = await post({ ...payload, amount: 2 });
  decoder.clock.advance(5_000);
  expect(second.status).toBe(201);
  expect((await post({ ...payload, amount: 2 })).body).toEqual(second.body);
  expect((await close('skew')).status).toBe(204);
  expect((await read(second.body.reference as string)).body.state).toBe('closed');
  expect((await read(first.body.reference as string)).body.state).toBe('closed');
});

test('two requests without externalReference create two invoices', async () => {
  const payload = anInvoiceRequest({ externalReference: undefined });
  const [one, other] = [await post(payload), await post(payload)];
  expect([one.status, other.status]).toEqual([201, 201]);
  expect(one.body.reference).not.toBe(other.body.reference);
  expect(one.body).not.toHaveProperty('externalReference');
});

test('during a payment an invoice cannot be replaced or closed, but a repeated request returns it', async () => {
  const payload = anInvoiceRequest({ externalReference: 'x-1' });
  const { body } = await post(payload);
  decoder.payables.set(body.reference as string, 'reserved');

  for (const refused of [await post({ ...payload, amount: 1 }), await close('x-1')]) {
    expect([refused.status, refused.headers['retry-after']]).toEqual([409, '2']);
    expect(refused.body.errors[0].errorReference).toBe('23');
  }
  expect((await post(payload)).body).toEqual(body);
});

test('an invoice that was just paid is not replaced; once the payment is known, the reference may be used again', async () => {
  const payload = anInvoiceRequest({ externalReference: 'x-2' });
  const { body } = await post(payload);
  const paid = decoder.payables.set(body.reference as string, 'paid');
  for (const refused of [await post({ ...payload, amount: 1 }), await close('x-2')])
    expect([refused.status, refused.body.errors[0].errorReference]).toEqual([409, '20']);

  await decoder.publishPayable(paid);
  expect((await read(body.reference as string)).body.state).toBe('closed');
  expect((await close('x-2')).status).toBe(204);
  const next = await post(payload);
  expect(next.status).toBe(201);
  expect(next.body.reference).not.toBe(body.reference);
});

test('an invoice is closed, and closing it again changes nothing', async () => {
  const { body } = await post(anInvoiceRequest({ externalReference: 'köln & co' }));
  const closed = await close('köln & co');
  expect([closed.status, closed.text]).toEqual([204, '']);
  expect(decoder.payables.stateOf(body.reference as string)).toBe('closed');
  expect((await read(body.reference as string)).body.state).toBe('closed');
  expect((await close('köln & co')).status).toBe(204);
  expect((await close('nobody knows this')).status).toBe(404);
  const ofNothing = await decoder.call('DELETE', `${merchant.path}/invoices`, { headers: merchant.headers });
  expect(ofNothing).toMatchObject({ status: 400, body: { errors: [{ field: 'externalReference' }] } });
});

test('an invoice expires after an hour, and its reference creates a new one', async () => {
  const payload = anInvoiceRequest();
  const { body } = await post(payload);
  decoder.clock.advance(3_600_000);
  const expired = await read(body.reference as string);
  expect([expired.status, expired.body.errors[0].errorReference]).toEqual([410, '20']);

  const next = await post(payload);
  expect(next.status).toBe(201);
  expect(decoder.payables.stateOf(body.reference as string)).toBe('closed');
  // It was closed only to be replaced: its state stays expired.
  expect((await read(body.reference as string)).status).toBe(410);
});

test('of twenty concurrent requests with one externalReference one creates the invoice, and the others return it', async () => {
  const payload = anInvoiceRequest();
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(payload)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array<number>(19).fill(200), 201]);
  expect(new Set(answers.map(({ body }) => body.reference as string)).size).toBe(1);
  const ids = decoder.payables.opened.filter(({ siteId }) => siteId === merchant.siteId);
  expect(ids.filter(({ payableId }) => decoder.payables.stateOf(payableId) === 'open')).toHaveLength(1);
});

test('of concurrent different requests with one externalReference one invoice is open in the end', async () => {
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, i) => post(anInvoiceRequest({ externalReference: 'race', amount: i + 1 }))),
  );
  const made = answers.filter(({ status }) => status === 201);
  expect(made.length).toBeGreaterThan(0);
  const refused = answers.filter(({ status }) => status !== 201);
  // Another request interfered at every attempt (40), or closed the invoice that this one tried to replace (20).
  const lost = [
    [409, '20'],
    [409, '40'],
  ];
  for (const { status, body } of refused) expect(lost).toContainEqual([status, body.errors[0].errorReference]);
  const states = await Promise.all(made.map(async ({ body }) => (await read(body.reference as string)).body.state));
  expect(states.toSorted()).toEqual([...Array<string>(made.length - 1).fill('closed'), 'open']);
});

test('without payment-processor nothing is created and the response is a 503; reading still works', async () => {
  const { body } = await post(anInvoiceRequest());
  await decoder.payables.stop();
  try {
    const payload = anInvoiceRequest();
    const refused = await post(payload);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await read(body.reference as string)).body).toEqual(body);
    await decoder.payables.start();
    expect((await post(payload)).status).toBe(201);
  } finally {
    await decoder.payables.stop();
    await decoder.payables.start();
  }
});

test('repeated, late or reordered events have the same result', async () => {
  const { body } = await post(anInvoiceRequest());
  const reserved = decoder.payables.set(body.reference as string, 'reserved');
  const paid = decoder.payables.set(body.reference as string, 'paid');
  for (const news of [paid, reserved, paid, reserved]) await decoder.publishPayable(news);
  expect((await read(body.reference as string)).body.state).toBe('closed');
  // Events of a session, and of an unknown invoice.
  const elsewhere = { payableId: randomUUID(), state: 'closed' as const, version: 2, tries: 0 };
  await decoder.deliver(anEvent(PayableClosedV1, elsewhere.payableId, 2, elsewhere));
});

test('an invalid request is rejected with the name of each invalid field, and nothing is created', async () => {
  const before = decoder.payables.opened.length;
  const { status, body, headers } = await post({
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
  const { status, body } = await post(anInvoiceRequest({ lineItems }));
  expect([status, body.lineItems?.length]).toEqual([201, 500]);
});

describe('authorisation (A7)', () => {
  const create = (headers: Record<string, string>, path = merchant.path) =>
    decoder.call('POST', `${path}/invoices`, { headers, payload: anInvoiceRequest() });

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
    ['a text that is no key', () => ({ 'x-api-key': 'secret' })],
    ['a key beside one that is wrong', () => ({ 'x-api-key': 'x', authorization: `Bearer ${merchant.siteKey}` })],
  ])('%s is a 401 with an empty body, also if the request is invalid', async (_, headers) => {
    const answer = await decoder.call('POST', `${merchant.path}/invoices`, { headers: headers(), payload: {} });
    expect([answer.status, answer.text]).toEqual([401, '']);
  });

  test('the key of another merchant or site is a 403; an unknown site is a 404', async () => {
    const other = await decoder.aMerchant();
    const sibling = await decoder.aMerchant({ merchantId: merchant.merchantId });
    expect((await create({ 'x-api-key': other.siteKey })).status).toBe(403);
    expect((await create({ 'x-api-key': other.merchantKey })).status).toBe(403);
    expect((await create({ 'x-api-key': sibling.siteKey })).status).toBe(403);
    expect((await create({ 'x-api-key': sibling.merchantKey })).status).toBe(201);
    const missing = `/business/api/v1/merchants/${merchant.merchantId}/sites/999999`;
    expect((await create({ 'x-api-key': merchant.merchantKey }, missing)).status).toBe(404);
    const strange = `/business/api/v1/merchants/${merchant.merchantId}/sites/x`;
    const answer = await create({ 'x-api-key': merchant.merchantKey }, strange);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: 'siteId' }] } });
  });

  test('a revoked key is rejected immediately, and the other mode finds nothing', async () => {
    const { body } = await create({ 'x-api-key': merchant.siteKey });
    const live = await decoder.aMerchant({ mode: 'live', merchantId: merchant.merchantId });
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

  test('an invoice of another site is not found', async () => {
    const { body } = await create(merchant.headers);
    const sibling = await decoder.aMerchant({ merchantId: merchant.merchantId });
    for (const reference of [body.reference as string, randomUUID(), 'x', '%00'])
      expect(
        (await decoder.call('GET', `${sibling.path}/invoices/${reference}`, { headers: sibling.headers })).status,
      ).toBe(404);
  });
});
