/** People of a merchant request payments in the console: code-decoder owns them, and checks merchant, site and mode. */
import { randomUUID } from 'node:crypto';
import {
  CancelPaymentRequestV1,
  type CreatedPaymentRequest,
  type CreatePaymentRequest,
  CreatePaymentRequestV1,
  FindTillInvoiceV1,
  MAX_REQUEST_LIFETIME_MS,
  MIN_REQUEST_LIFETIME_MS,
} from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { type Decoder, type Merchant, startDecoder } from '../../test/decoder.js';

let decoder: Decoder;
let merchant: Merchant;
let commands: Commands;
beforeAll(async () => {
  decoder = await startDecoder();
  commands = decoder.service.app.get(Commands);
});
beforeEach(async () => {
  merchant = await decoder.createMerchant();
});
afterAll(() => decoder.stop());

const PERSON = randomUUID();
const DAY_MS = 86_400_000;
const ownerOf = ({ merchantId, siteId }: Merchant) => ({ merchantId, siteId, mode: 'test' as const });
const build = (changes: Partial<CreatePaymentRequest> = {}): CreatePaymentRequest => ({
  ...ownerOf(merchant),
  amount: 25_000,
  description: 'Deposit for the wedding cake',
  expiresUTCDate: decoder.clock.later(7 * DAY_MS).toISOString(),
  idempotencyKey: randomUUID(),
  personId: PERSON,
  requestId: 'request-1',
  ...changes,
});
const create = (changes: Partial<CreatePaymentRequest> = {}): Promise<CreatedPaymentRequest> =>
  commands.request(CreatePaymentRequestV1, build(changes));
const cancel = (invoiceReference: string, changes: Partial<CreatePaymentRequest> = {}) => {
  const { merchantId, siteId, mode, personId, requestId } = build(changes);
  return commands.request(CancelPaymentRequestV1, { merchantId, siteId, mode, personId, requestId, invoiceReference });
};
const readEvents = (type: string, invoiceReference: string): Promise<{ payload: Record<string, unknown> }[]> =>
  decoder.dataSource.query(
    `SELECT payload FROM event_log WHERE type = $1 AND payload::text LIKE '%' || $2 || '%' ORDER BY position`,
    [type, invoiceReference],
  );
const countInvoices = async (): Promise<number> => {
  const [row] = await decoder.dataSource.query<[{ count: number }]>(
    'SELECT count(*)::int AS count FROM invoices WHERE merchant_id = $1',
    [merchant.merchantId],
  );
  return row.count;
};

test('a payment request is an invoice whose line item is the description, and the audit log has the person', async () => {
  const expiresUTCDate = decoder.clock.later(30 * DAY_MS).toISOString();
  const created = await create({ externalReference: 'CAKE-7', expiresUTCDate });
  expect(created).toEqual({
    invoiceReference: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    code: expect.stringMatching(/^\d{20}$/) as string,
    expiresUTCDate,
  });
  const { invoiceReference, code } = created;
  const payable = {
    ...ownerOf(merchant),
    payableId: invoiceReference,
    amount: 25_000,
    currencyISOCode: 'ZAR',
    expiresAt: expiresUTCDate,
    maxPayments: 100,
    source: { kind: 'invoice', invoiceReference, externalReference: 'CAKE-7', siteReference: 'KAROO', code },
  };
  expect(decoder.payables.opened).toContainEqual(payable);
  expect(await readEvents('invoice.created.v1', invoiceReference)).toEqual([
    {
      payload: {
        payable,
        origin: 'Console',
        createdUTCDate: decoder.clock.nowISO(),
        lineItems: [{ name: 'Deposit for the wedding cake', productCode: 'payment-request', unitPrice: '25000' }],
        requestedBy: PERSON,
      },
    },
  ]);
  expect(await readEvents('code-decoder.administered.v1', invoiceReference)).toEqual([
    {
      payload: {
        action: 'payment-request.created',
        actor: `person:${PERSON}`,
        requestId: 'request-1',
        merchantId: merchant.merchantId,
        siteId: merchant.siteId,
        after: { mode: 'test', invoiceReference, amount: 25_000, expiresUTCDate },
      },
    },
  ]);
});

test('a form that is sent again, also twice at once and after the expiry, creates one invoice', async () => {
  const request = {
    idempotencyKey: randomUUID(),
    expiresUTCDate: decoder.clock.later(MIN_REQUEST_LIFETIME_MS).toISOString(),
  };
  const replies = await Promise.all([create(request), create(request), create(request)]);
  decoder.clock.advance(MIN_REQUEST_LIFETIME_MS + 1);
  replies.push(await create(request));
  expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
  expect(await countInvoices()).toBe(1);
  expect(await readEvents('code-decoder.administered.v1', replies[0].invoiceReference)).toHaveLength(1);
  // The payables of the attempts that lost are closed.
  const open = decoder.payables.opened.filter(
    ({ merchantId, payableId }) =>
      merchantId === merchant.merchantId && decoder.payables.getState(payableId) === 'open',
  );
  expect(open.map(({ payableId }) => payableId)).toEqual([replies[0].invoiceReference]);
});

test.each<[string, Partial<CreatePaymentRequest>]>([
  ['amount', { amount: 25_001 }],
  ['description', { description: 'Deposit' }],
  ['order number', { externalReference: 'CAKE-8' }],
])('the same form with another %s is refused', async (_, changes) => {
  const idempotencyKey = randomUUID();
  const expiresUTCDate = decoder.clock.later(DAY_MS).toISOString();
  await create({ idempotencyKey, expiresUTCDate });
  await expect(create({ idempotencyKey, expiresUTCDate, ...changes })).rejects.toMatchObject({
    code: 'request.idempotency-conflict',
  });
  await expect(
    create({ idempotencyKey, expiresUTCDate: decoder.clock.later(DAY_MS + 1).toISOString() }),
  ).rejects.toMatchObject({ code: 'request.idempotency-conflict' });
  expect(await countInvoices()).toBe(1);
});

test('an Idempotency-Key of the site’s till is another key', async () => {
  const idempotencyKey = randomUUID();
  await create({ idempotencyKey });
  const { status } = await decoder.call('POST', `${merchant.path}/invoices`, {
    headers: { ...merchant.headers, 'idempotency-key': idempotencyKey },
    payload: {
      siteReference: 'T',
      currencyISOCode: 'ZAR',
      amount: 1,
      origin: 'POS',
      createdUTCDate: '2026-03-01T09:59:58Z',
    },
  });
  expect(status).toBe(201);
});

test('the expiry is at least one minute and at most 32 days away, both inclusive', async () => {
  for (const lifetimeMs of [MIN_REQUEST_LIFETIME_MS, MAX_REQUEST_LIFETIME_MS])
    await create({ expiresUTCDate: decoder.clock.later(lifetimeMs).toISOString() });
  for (const lifetimeMs of [MIN_REQUEST_LIFETIME_MS - 1, MAX_REQUEST_LIFETIME_MS + 1, -DAY_MS])
    await expect(create({ expiresUTCDate: decoder.clock.later(lifetimeMs).toISOString() })).rejects.toMatchObject({
      code: 'request.invalid',
      fields: [{ field: 'expiresUTCDate' }],
    });
  expect(await countInvoices()).toBe(2);
});

test.each<[string, Partial<CreatePaymentRequest>]>([
  ['amount', { amount: 0 }],
  ['amount', { amount: 100_000_000_001 }],
  ['amount', { amount: 1.5 }],
  ['description', { description: ' ' }],
  ['description', { description: 'x'.repeat(201) }],
  ['externalReference', { externalReference: '' }],
  ['externalReference', { externalReference: 'x'.repeat(101) }],
])('a wrong %s is refused, and nothing is opened', async (field, changes) => {
  const before = decoder.payables.opened.length;
  await expect(create(changes)).rejects.toMatchObject({ code: 'request.invalid', fields: [{ field }] });
  expect(decoder.payables.opened).toHaveLength(before);
});

test('line breaks of the description become spaces', async () => {
  const { invoiceReference } = await create({ description: 'A\nB' });
  const [event] = await readEvents('invoice.created.v1', invoiceReference);
  expect(event?.payload['lineItems']).toMatchObject([{ name: 'A B' }]);
});

test('the site must belong to the merchant', async () => {
  const other = await decoder.createMerchant();
  for (const owner of [{ siteId: other.siteId }, { merchantId: other.merchantId }, { siteId: 1 }])
    await expect(create(owner)).rejects.toMatchObject({ code: 'resource.not-found' });
});

describe('the order number', () => {
  test('of an open invoice is refused, and the open invoice stays', async () => {
    const { reference } = await decoder.createInvoice(merchant, { externalReference: 'ORDER-1' });
    await expect(create({ externalReference: 'ORDER-1' })).rejects.toMatchObject({ code: 'resource.conflict' });
    expect(decoder.payables.getState(reference)).toBe('open');
    await create({ externalReference: 'ORDER-2' });
    await expect(create({ externalReference: 'ORDER-2' })).rejects.toMatchObject({ code: 'resource.conflict' });
  });

  test('of an expired invoice can be used again, and its payable is closed', async () => {
    const first = await create({
      externalReference: 'ORDER-3',
      expiresUTCDate: decoder.clock.later(DAY_MS).toISOString(),
    });
    decoder.clock.advance(DAY_MS);
    const second = await create({ externalReference: 'ORDER-3' });
    expect(decoder.payables.getState(first.invoiceReference)).toBe('closed');
    expect(decoder.payables.getState(second.invoiceReference)).toBe('open');
  });

  test('of two forms at once is used by one of them', async () => {
    const outcomes = await Promise.allSettled([
      create({ externalReference: 'ORDER-4' }),
      create({ externalReference: 'ORDER-4' }),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'resource.conflict' },
    });
    expect(await countInvoices()).toBe(1);
  });
});

describe('a cancelled payment request', () => {
  test('is closed, and the audit log has the first person who cancelled it, once', async () => {
    const { invoiceReference } = await create();
    for (const personId of [PERSON, randomUUID()])
      expect(await cancel(invoiceReference, { personId })).toEqual({ cancelled: true });
    expect(decoder.payables.getState(invoiceReference)).toBe('closed');
    expect(await readEvents('code-decoder.administered.v1', invoiceReference)).toMatchObject([
      { payload: { action: 'payment-request.created' } },
      {
        payload: {
          action: 'payment-request.cancelled',
          actor: `person:${PERSON}`,
          requestId: 'request-1',
          merchantId: merchant.merchantId,
          siteId: merchant.siteId,
          after: { mode: 'test', invoiceReference },
        },
      },
    ]);
  });

  test('whose closing was reported before the crash, is in the audit log after the repeat', async () => {
    const { invoiceReference } = await create();
    await decoder.publishPayable(decoder.payables.set(invoiceReference, 'closed'));
    await cancel(invoiceReference);
    expect(await readEvents('code-decoder.administered.v1', invoiceReference)).toHaveLength(2);
  });

  test('must not be paid, and have no payment in progress', async () => {
    const [paid, reserved, paidUnknown] = [await create(), await create(), await create()];
    await decoder.publishPayable(decoder.payables.set(paid.invoiceReference, 'paid'));
    decoder.payables.set(paidUnknown.invoiceReference, 'paid');
    decoder.payables.set(reserved.invoiceReference, 'reserved');
    for (const { invoiceReference } of [paid, paidUnknown])
      await expect(cancel(invoiceReference)).rejects.toMatchObject({ code: 'payable.paid' });
    await expect(cancel(reserved.invoiceReference)).rejects.toMatchObject({ code: 'payment.in-progress' });
    expect(await readEvents('code-decoder.administered.v1', reserved.invoiceReference)).toHaveLength(1);
  });

  test('belongs to one merchant, site and mode, and is not the invoice of a till', async () => {
    const { merchantId } = merchant;
    const otherSite = await decoder.createMerchant({ merchantId });
    const other = await decoder.createMerchant();
    const { invoiceReference } = await create();
    for (const owner of [{ mode: 'live' as const }, { siteId: otherSite.siteId }, { merchantId: other.merchantId }])
      await expect(cancel(invoiceReference, owner)).rejects.toMatchObject({ code: 'resource.not-found' });
    const { reference } = await decoder.createInvoice(merchant);
    for (const unknown of [reference, randomUUID()])
      await expect(cancel(unknown)).rejects.toMatchObject({ code: 'resource.not-found' });
    expect([decoder.payables.getState(invoiceReference), decoder.payables.getState(reference)]).toEqual([
      'open',
      'open',
    ]);
  });
});

test('the static code of the site’s till leads to the till’s invoice, never to a payment request', async () => {
  const { path, headers } = merchant;
  const till = await decoder.call('PUT', `${path}/tills/KAROO/code`, { headers });
  const code = String((till.body as { code: string }).code).slice(-20);
  const find = () => commands.request(FindTillInvoiceV1, { code });
  await create();
  expect(await find()).toEqual({});
  const { reference } = await decoder.createInvoice(merchant, { siteReference: 'KAROO' });
  decoder.clock.advance(1);
  await create();
  expect(await find()).toEqual({ invoiceReference: reference });
});
