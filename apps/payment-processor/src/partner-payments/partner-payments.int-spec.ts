import { randomUUID } from 'node:crypto';
import {
  type InvoiceSource,
  type PayableDescriptor,
  PaymentProcessingV1,
  PaymentSucceededV1,
  SessionCreatedV1,
} from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { anEvent, waitUntil } from '@svc/testing';
import { aPayable } from '../../test/builders.js';
import { CARDS, encryptedCard } from '../../test/encrypted-card.js';
import { aCard, aMerchant, aPartner, openInvoice, type PartnerUnderTest } from '../../test/partner.js';
import { CODES_URL, type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor();
});
beforeEach(async () => {
  partner = await aPartner(processor);
  merchant = await aMerchant(processor);
});
afterAll(() => processor.stop());

const anInvoice = (over: Partial<PayableDescriptor<InvoiceSource>> = {}) =>
  openInvoice(processor, { ...merchant, ...over });

const countOf = async (payable: { payableId: string }): Promise<number> => {
  const [row] = await processor.dataSource.query<[{ count: number }]>(
    `SELECT count(*) FROM payments WHERE payable_id = $1`,
    [payable.payableId],
  );
  return row.count;
};
const chargesOf = (references: readonly string[]): string[] =>
  processor.charged().filter((reference) => references.includes(reference));
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('a payment by invoice reference: one charge; the history is updated before the response, which is its item', async () => {
  const invoice = await anInvoice();
  const customer = { id: randomUUID(), firstName: 'Ayesha', lastName: 'Khan' };
  const reference = randomUUID().toUpperCase();
  const { status, body, headers } = await partner.pay(invoice, { reference, customer, orderReference: 'order-9' });

  expect(status).toBe(201);
  expect(headers['cache-control']).toBe('no-store');
  expect(body).toEqual({
    reference,
    invoiceReference: invoice.payableId,
    invoiceExternalReference: 'inv-1',
    merchantName: 'Karoo Books',
    currencyISOCode: 'ZAR',
    invoicedAmount: 12345,
    paymentReference: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{18}$/),
    paymentUTCDate: '2026-03-01T10:00:00.000Z',
    paymentMethodType: 'Card',
    paymentMethodDescription: '**** 4242',
    status: 'success',
    tipAmount: 0,
    processedAmount: 12345,
    customer,
    siteReference: 'TILL-1',
    errors: null,
  });
  expect(chargesOf([body.paymentReference])).toHaveLength(1);
  expect(processor.shown.at(-1)).toMatchObject({ version: 2, payment: { reference, state: 'success' } });

  const events = [
    ...(await processor.published(PaymentProcessingV1)),
    ...(await processor.published(PaymentSucceededV1)),
  ];
  const own = events.filter(({ payload }) => payload.paymentReference === body.paymentReference);
  expect(
    own.map(({ aggregateVersion, payload }) => [aggregateVersion, payload.state, payload.payable.version]),
  ).toEqual([
    [1, 'processing', 2],
    [2, 'success', 3],
  ]);
  for (const { payload } of own)
    expect(payload).toMatchObject({
      partner: { organisationId: partner.organisationId, customer },
      orderReference: 'order-9',
      reference,
    });
});

test.each([
  ['the scanned URL', (code: string) => base64(`${CODES_URL}/c/${code}`)],
  ['its digits, base64url without padding', (code: string) => Buffer.from(` ${code} `).toString('base64url')],
])('a payment by code: %s', async (_, encode) => {
  const invoice = await anInvoice();
  const answer = await partner.pay(invoice, { invoiceReference: undefined, code: encode(invoice.source.code) });
  expect(answer).toMatchObject({ status: 201, body: { status: 'success', invoiceReference: invoice.payableId } });
});

test('a card is accepted only for the payment and payer that it was encrypted for', async () => {
  const [customer, another, stranger] = [await partner.customer(), await partner.customer(), await aPartner(processor)];
  const [invoice, reference] = [await anInvoice(), randomUUID()];
  const sealed = async (sessionId: string) => ({
    paymentMethod: { card: { encryptedCard: await encryptedCard(processor.cardKey, { sessionId, try: 1 }) } },
  });
  const [ofPartner, ofCustomer] = await Promise.all(
    [partner.organisationId, customer.customerReference].map((owner) => sealed(`${owner}.${reference}`)),
  );
  const refused: [Pick<PartnerUnderTest, 'pay'>, object, string][] = [
    [partner, await sealed(`${partner.organisationId}.${randomUUID()}`), reference],
    // A card that is bound to a session, as on our page.
    [partner, await sealed(reference), reference],
    [partner, ofCustomer!, reference],
    [another, ofCustomer!, reference],
    [stranger, ofPartner!, reference],
    [partner, ofPartner!, randomUUID()],
  ];
  for (const [payer, card, as] of refused)
    expect(await payer.pay(invoice, { reference: as, ...card })).toMatchObject({
      status: 400,
      body: {
        errors: [
          {
            errorReference: '40',
            message: 'The card was encrypted for another page. Reload the page and try again.',
          },
        ],
      },
    });
  expect(await countOf(invoice)).toBe(0);
  const success = { status: 201, body: { status: 'success' } };
  expect(await partner.pay(invoice, { reference, ...ofPartner! })).toMatchObject(success);
  const next = randomUUID();
  const own = await sealed(`${customer.customerReference}.${next}`);
  expect(await customer.pay(await anInvoice(), { reference: next, ...own })).toMatchObject(success);
});

test('a declined card is a payment that failed, and the invoice can be paid again', async () => {
  const invoice = await anInvoice();
  const failed = await partner.pay(invoice, { paymentMethod: { card: aCard({ cardNumber: CARDS.declined }) } });
  expect(failed).toMatchObject({
    status: 201,
    body: { status: 'failed', processedAmount: 0, errors: [{ errorReference: '10' }] },
  });
  expect((await partner.pay(invoice)).body.status).toBe('success');
});

describe('rejected without a charge or record', () => {
  const refused = async (over: Record<string, unknown>, payable?: PayableDescriptor<InvoiceSource>) => {
    const invoice = payable ?? (await anInvoice());
    const before = await countOf(invoice);
    const { status, body } = await partner.pay(invoice, over);
    expect(await countOf(invoice)).toBe(before);
    return [status, body.errors[0].errorReference as string, body.errors[0].field as string | undefined];
  };

  test.each([
    ['reference', { reference: 'x' }],
    ['amount', { amount: '12345' }],
    ['amount', { amount: 1.5 }],
    ['amount', { amount: 100_000_000_001 }],
    ['tipAmount', { tipAmount: -1 }],
    ['customer', { customer: undefined }],
    ['customer.id', { customer: { id: '' } }],
    ['customer.id', { customer: { id: 'x'.repeat(101) } }],
    ['tipAmount', { tipAmount: 100_000_000_000 }],
    ['code', { code: 'aGk=' }],
    ['code', { invoiceReference: undefined }],
    ['code', { invoiceReference: undefined, code: '%%%' }],
    ['paymentMethod', { paymentMethod: undefined }],
    ['paymentMethod', { paymentMethod: {} }],
    ['paymentMethod.card.cardNumber', { paymentMethod: { card: aCard({ cardNumber: '4242424242424241' }) } }],
    ['paymentMethod.card.cvv', { paymentMethod: { card: aCard({ cvv: undefined }) } }],
    ['paymentMethod.card.expiryDate', { paymentMethod: { card: aCard({ expiryYear: 2020 }) } }],
    [
      'paymentMethod',
      { paymentMethod: { card: aCard(), external: { type: 'EFT', status: 'success', reference: '1' } } },
    ],
    ['paymentMethod.card', { paymentMethod: { card: { ...aCard(), token: 'card_1' } } }],
    ['paymentMethod.card', { paymentMethod: { card: { encryptedCard: 'x', token: 'card_1' } } }],
    ['vouchers', { vouchers: [{ merchantLiable: true, amount: 20_000 }] }],
    ['vouchers[0].merchantLiable', { vouchers: [{ amount: 1 }] }],
    ['returnUrl', { returnUrl: 'http://partner.example/' }],
    ['returnUrl', { returnUrl: '' }],
    ['returnUrl', { returnUrl: `https://partner.example/${'é'.repeat(1_000)}` }],
    ['orderReference', { orderReference: 'x'.repeat(101) }],
  ])('for an invalid %s with a 400: %j', async (field, over) => {
    expect(await refused(over)).toEqual([400, '40', field]);
  });

  test('with a 400 that names every invalid field: malformed ones, then violated rules', async () => {
    const { status, body } = await partner.pay(await anInvoice(), {
      amount: 0,
      tipAmount: -1,
      customer: undefined,
      code: 'aGk=',
      returnUrl: 'http://partner.example/',
      paymentMethod: { card: aCard({ cvv: undefined }), external: { type: 'EFT', status: 'success', reference: '1' } },
    });
    expect([status, body.code]).toEqual([400, 'request.invalid']);
    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual([
      'amount',
      'tipAmount',
      'customer',
      'code',
      'returnUrl',
    ]);
    const card = await partner.pay(await anInvoice(), {
      paymentMethod: { card: aCard({ cvv: undefined, expiryYear: 2020 }) },
      returnUrl: 'http://partner.example/',
      orderReference: 7,
    });
    expect(card.body.errors.map(({ field }: { field: string }) => field)).toEqual([
      'orderReference',
      'returnUrl',
      'paymentMethod.card.cvv',
      'paymentMethod.card.expiryDate',
    ]);
  });

  test('with a 403 before a 400', async () => {
    const customer = await partner.customer();
    for (const over of [{ customer: { id: randomUUID() } }, { vouchers: [{ merchantLiable: true, amount: 1 }] }]) {
      const { status, body } = await customer.pay(await anInvoice(), { ...over, amount: 0 });
      expect([status, body.code]).toEqual([403, 'credentials.forbidden']);
    }
  });

  test('because of the state of the payable', async () => {
    expect(await refused({ invoiceReference: randomUUID() })).toEqual([404, '21', undefined]);
    expect(await refused({ invoiceReference: undefined, code: base64('12345678901234567890') })).toEqual([
      404,
      '21',
      undefined,
    ]);
    const expired = await anInvoice({ expiresAt: '2026-03-01T09:59:59.000Z' });
    expect(await refused({}, expired)).toEqual([410, '20', undefined]);
    const closed = await anInvoice();
    await processor.close(closed);
    expect(await refused({}, closed)).toEqual([409, '20', undefined]);
    const paid = await anInvoice();
    await partner.pay(paid);
    expect(await refused({}, paid)).toEqual([409, '20', undefined]);
    const live = await anInvoice({ mode: 'live' });
    expect(await refused({}, live)).toEqual([404, '21', undefined]);
  });

  test('because of the merchant’s terms', async () => {
    expect(await refused({ amount: 1 })).toEqual([422, '22', undefined]);
    expect(await refused({ tipAmount: 1 })).toEqual([422, '40', 'tipAmount']);
    merchant = await aMerchant(processor, { features: { orderReference: { required: true, label: 'Table' } } });
    expect(await refused({})).toEqual([422, '40', 'orderReference']);
    expect((await partner.pay(await anInvoice(), { orderReference: '7' })).status).toBe(201);
  });

  test('until the event of the merchant arrives', async () => {
    merchant = { merchantId: 999_999, siteId: 5001 };
    expect(await refused({})).toEqual([503, '50', undefined]);
  });
});

test('an edited amount and a tip are charged if the merchant allows them', async () => {
  merchant = await aMerchant(processor, { features: { amount: { editable: true }, tip: { enabled: true } } });
  const { body } = await partner.pay(await anInvoice(), { amount: 10_000, tipAmount: 500 });
  expect(body).toMatchObject({ invoicedAmount: 12345, tipAmount: 500, processedAmount: 10_500, status: 'success' });
});

test.each([
  ['the default', undefined, 99, 100],
  ['the merchant’s minimum', 5_000, 4_999, 5_000],
  ['the amount of a smaller invoice', 20_000, 12_344, 12_345],
])('an edited amount below the minimum closes no invoice: %s', async (_, minimumAmount, below, least) => {
  const features = { amount: { editable: true } };
  merchant = await aMerchant(processor, { features, ...(minimumAmount ? { minimumAmount } : {}) });
  const invoice = await anInvoice();
  const { status, body } = await partner.pay(invoice, { amount: below });
  expect([status, body.errors]).toEqual([422, [{ errorReference: '22', message: expect.not.stringMatching(/\d/) }]]);
  expect(await countOf(invoice)).toBe(0);
  expect(await partner.pay(invoice, { amount: least })).toMatchObject({ status: 201, body: { status: 'success' } });
});

test('an event of an older release without the minimum keeps the stored minimum', async () => {
  const { merchantId } = await aMerchant(processor, { minimumAmount: 5_000 });
  merchant = await aMerchant(processor, { merchantId, features: { amount: { editable: true } } });
  const invoice = await anInvoice();
  expect((await partner.pay(invoice, { amount: 4_999 })).status).toBe(422);
  expect((await partner.pay(invoice, { amount: 5_000 })).status).toBe(201);
});

test('after a lost response the bank is queried immediately, and the outcome is returned', async () => {
  const invoice = await anInvoice();
  const paid = await partner.pay(invoice, { paymentMethod: { card: aCard({ cardNumber: CARDS.dropsTheAnswer }) } });
  expect(paid).toMatchObject({ status: 201, body: { status: 'success' } });
  expect(chargesOf([paid.body.paymentReference])).toHaveLength(1);
});

describe('verification', () => {
  const toVerify = { paymentMethod: { card: aCard({ cardNumber: CARDS.verified }) } };

  test('the payer goes to the bank’s page and back to ours, which finishes the payment', async () => {
    const [invoice, reference] = [await anInvoice(), randomUUID()];
    const customer = { id: randomUUID() };
    const asked = await partner.pay(invoice, { reference, customer, ...toVerify });
    expect(asked).toMatchObject({ status: 201, body: { status: 'verificationRequired', processedAmount: 0 } });
    // The job has queried the bank a moment before the payer confirmed there.
    await processor.clearUp();
    const back = await fetch(asked.body.verificationUrl as string, {
      method: 'POST',
      body: new URLSearchParams({ answer: 'confirm' }),
      redirect: 'manual',
    });
    const location = back.headers.get('location')!;
    expect(location).toBe(`https://api.svc.example/v1/verifications/${asked.body.paymentReference}`);
    const page = await processor.service.app.inject({ method: 'GET', url: new URL(location).pathname });
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('Your payment is complete');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    const { status, body } = await partner.pay(invoice, { reference, customer, ...toVerify });
    expect([status, body.status, body.verificationUrl, body.processedAmount]).toEqual([
      200,
      'success',
      undefined,
      12345,
    ]);
  });

  test('after the payer returns to a page of the partner, the job queries the bank', async () => {
    const invoice = await anInvoice();
    const asked = await partner.pay(invoice, { returnUrl: 'https://partner.example/back?x=1', ...toVerify });
    const back = await fetch(asked.body.verificationUrl as string, {
      method: 'POST',
      body: new URLSearchParams({ answer: 'confirm' }),
      redirect: 'manual',
    });
    expect(back.headers.get('location')).toBe('https://partner.example/back?x=1');
    await waitUntil('the payment to be finished', 5_000, async () => {
      await processor.clearUp();
      return chargesOf([asked.body.paymentReference as string]).length === 1;
    });
  });

  test('the bank gets a normalised URL', async () => {
    const returnUrl = ' https://partner.example/a\nb/é?x=1 ';
    const asked = await partner.pay(await anInvoice(), { returnUrl, ...toVerify });
    expect(asked).toMatchObject({ status: 201, body: { status: 'verificationRequired' } });
    const back = await fetch(asked.body.verificationUrl as string, {
      method: 'POST',
      body: new URLSearchParams({ answer: 'refuse' }),
      redirect: 'manual',
    });
    expect(back.headers.get('location')).toBe('https://partner.example/ab/%C3%A9?x=1');
  });

  test('the return page is a 404 for other references', async () => {
    for (const text of ['x', '0'.repeat(18), randomUUID()])
      expect((await processor.service.app.inject({ method: 'GET', url: `/v1/verifications/${text}` })).statusCode).toBe(
        404,
      );
  });
});

test('an order of a web shop must be paid in full, whatever its merchant allows at a table', async () => {
  merchant = await aMerchant(processor, { features: { amount: { editable: true }, tip: { enabled: true } } });
  const payable = aPayable({ ...merchant });
  await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
  const [part, tipped] = [await partner.pay(payable, { amount: 1 }), await partner.pay(payable, { tipAmount: 1 })];
  expect([part.status, part.body.errors[0].errorReference]).toEqual([422, '22']);
  expect([tipped.status, tipped.body.errors[0].field]).toEqual([422, 'tipAmount']);
  expect(await countOf(payable)).toBe(0);
  expect((await partner.pay(payable)).status).toBe(201);
});

test('a hosted session is found by the code that its page shows', async () => {
  const code = newOwnCode();
  const payable = aPayable({ ...merchant });
  await processor.deliver(
    anEvent(SessionCreatedV1, payable.payableId, 1, { payable: { ...payable, source: { ...payable.source, code } } }),
  );
  const scanned = { invoiceReference: undefined, code: base64(`${CODES_URL}/c/${code}`) };
  const { status, body } = await partner.pay(payable, scanned);
  expect([status, body.invoiceReference]).toEqual([201, payable.payableId]);
  expect((await partner.pay(payable, scanned)).status).toBe(409);
});

test('a partner can pay a hosted session, too, and its merchant gets the same events', async () => {
  const payable = aPayable({ ...merchant });
  await processor.close(aPayable({ ...merchant }));
  await processor.pay(payable, { card: CARDS.declined });
  const { status, body } = await partner.pay(payable);
  expect(status).toBe(201);
  expect(body).toMatchObject({
    siteReference: 'WEB',
    invoiceReference: payable.payableId,
    invoiceExternalReference: 'order-1',
    status: 'success',
  });
  await expect(processor.pay(payable, { try: 3 })).rejects.toMatchObject({ code: 'payable.paid' });
});
