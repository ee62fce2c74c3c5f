import { createHash, randomUUID } from 'node:crypto';
import { type InvoiceSource, type PayableDescriptor, PaymentProcessingV1, PaymentSucceededV1 } from '@svc/contracts';
import { pickSecurityHeaders, SERVICE_SECURITY_HEADERS, waitUntil } from '@svc/testing';
import { CARDS, encryptCard } from '../../test/encrypted-card.js';
import {
  buildPlainCard,
  createMerchant,
  createPartner,
  openInvoice,
  type PartnerUnderTest,
} from '../../test/partner.js';
import { CODES_URL, type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor();
});
beforeEach(async () => {
  partner = await createPartner(processor);
  merchant = await createMerchant(processor);
});
afterAll(() => processor.stop());

const createInvoice = (overrides: Partial<PayableDescriptor<InvoiceSource>> = {}) =>
  openInvoice(processor, { ...merchant, ...overrides });

const countPayments = async (payable: { payableId: string }): Promise<number> => {
  const [row] = await processor.dataSource.query<[{ count: number }]>(
    `SELECT count(*) FROM payments WHERE payable_id = $1`,
    [payable.payableId],
  );
  return row.count;
};
const findCharges = (references: readonly string[]): string[] =>
  processor.chargedReferences().filter((reference) => references.includes(reference));
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('a payment by invoice reference is charged once, and the payment history is updated before the response', async () => {
  const invoice = await createInvoice();
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
  expect(findCharges([body.paymentReference])).toHaveLength(1);
  expect(processor.showPaymentCommands.at(-1)).toMatchObject({ version: 2, payment: { reference, state: 'success' } });

  const events = [
    ...(await processor.published(PaymentProcessingV1)),
    ...(await processor.published(PaymentSucceededV1)),
  ];
  const eventsOfPayment = events.filter(({ payload }) => payload.paymentReference === body.paymentReference);
  expect(
    eventsOfPayment.map(({ aggregateVersion, payload }) => [aggregateVersion, payload.state, payload.payable.version]),
  ).toEqual([
    [1, 'processing', 2],
    [2, 'success', 3],
  ]);
  for (const { payload } of eventsOfPayment)
    expect(payload).toMatchObject({
      partner: { organisationId: partner.organisationId, customer },
      orderReference: 'order-9',
      reference,
    });
});

test.each([
  ['the URL in the scanned code', (code: string) => base64(`${CODES_URL}/c/${code}`)],
  [
    'the digits of the code as base64url without padding',
    (code: string) => Buffer.from(` ${code} `).toString('base64url'),
  ],
])('an invoice can be paid with %s', async (_, encode) => {
  const invoice = await createInvoice();
  const response = await partner.pay(invoice, { invoiceReference: undefined, code: encode(invoice.source.code) });
  expect(response).toMatchObject({ status: 201, body: { status: 'success', invoiceReference: invoice.payableId } });
});

test('an encrypted card is accepted only for the payment and the payer for which it was encrypted', async () => {
  const [customer, otherCustomer, otherPartner] = [
    await partner.customer(),
    await partner.customer(),
    await createPartner(processor),
  ];
  const [invoice, reference] = [await createInvoice(), randomUUID()];
  const encryptFor = async (sessionId: string) => ({
    paymentMethod: { card: { encryptedCard: await encryptCard(processor.cardKey, { sessionId, paymentNumber: 1 }) } },
  });
  const [cardOfPartner, cardOfCustomer] = await Promise.all(
    [partner.organisationId, customer.customerReference].map((owner) => encryptFor(`${owner}.${reference}`)),
  );
  const rejectedCalls: [Pick<PartnerUnderTest, 'pay'>, object, string][] = [
    [partner, await encryptFor(`${partner.organisationId}.${randomUUID()}`), reference],
    // This card is bound to a session id, as on the page of a hosted session.
    [partner, await encryptFor(reference), reference],
    [partner, cardOfCustomer!, reference],
    [otherCustomer, cardOfCustomer!, reference],
    [otherPartner, cardOfPartner!, reference],
    [partner, cardOfPartner!, randomUUID()],
  ];
  for (const [payer, card, usedReference] of rejectedCalls)
    expect(await payer.pay(invoice, { reference: usedReference, ...card })).toMatchObject({
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
  expect(await countPayments(invoice)).toBe(0);
  const success = { status: 201, body: { status: 'success' } };
  expect(await partner.pay(invoice, { reference, ...cardOfPartner! })).toMatchObject(success);
  const next = randomUUID();
  const nextCard = await encryptFor(`${customer.customerReference}.${next}`);
  expect(await customer.pay(await createInvoice(), { reference: next, ...nextCard })).toMatchObject(success);
});

test('a payment with a declined card fails, and the invoice can be paid again', async () => {
  const invoice = await createInvoice();
  const failed = await partner.pay(invoice, {
    paymentMethod: { card: buildPlainCard({ cardNumber: CARDS.declined }) },
  });
  expect(failed).toMatchObject({
    status: 201,
    body: { status: 'failed', processedAmount: 0, errors: [{ errorReference: '10' }] },
  });
  expect((await partner.pay(invoice)).body.status).toBe('success');
});

// Every rejected payment leaves no charge and no record.
describe('a payment', () => {
  const payAndReadError = async (overrides: Record<string, unknown>, payable?: PayableDescriptor<InvoiceSource>) => {
    const invoice = payable ?? (await createInvoice());
    const before = await countPayments(invoice);
    const { status, body } = await partner.pay(invoice, overrides);
    expect(await countPayments(invoice)).toBe(before);
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
    ['paymentMethod.card.cardNumber', { paymentMethod: { card: buildPlainCard({ cardNumber: '4242424242424241' }) } }],
    ['paymentMethod.card.cvv', { paymentMethod: { card: buildPlainCard({ cvv: undefined }) } }],
    ['paymentMethod.card.expiryDate', { paymentMethod: { card: buildPlainCard({ expiryYear: 2020 }) } }],
    [
      'paymentMethod',
      { paymentMethod: { card: buildPlainCard(), external: { type: 'EFT', status: 'success', reference: '1' } } },
    ],
    ['paymentMethod.card', { paymentMethod: { card: { ...buildPlainCard(), token: 'card_1' } } }],
    ['paymentMethod.card', { paymentMethod: { card: { encryptedCard: 'x', token: 'card_1' } } }],
    ['vouchers', { vouchers: [{ merchantLiable: true, amount: 20_000 }] }],
    ['vouchers[0].merchantLiable', { vouchers: [{ amount: 1 }] }],
    ['returnUrl', { returnUrl: 'http://partner.example/' }],
    ['returnUrl', { returnUrl: '' }],
    ['returnUrl', { returnUrl: `https://partner.example/${'é'.repeat(1_000)}` }],
    ['orderReference', { orderReference: 'x'.repeat(101) }],
  ])('is rejected with a 400 if the field %s is invalid: %j', async (field, overrides) => {
    expect(await payAndReadError(overrides)).toEqual([400, '40', field]);
  });

  test.each([
    ['amount', '"amount":1', ''],
    ['amount', '"\\u0061mount" : 1', ''],
    ['paymentMethod.card.token', '', '"token":"a","token":"b"'],
  ])('is rejected with a 400 that names the key %s if the body has the key twice', async (field, key, cardKeys) => {
    const text = `{"amount":2,"paymentMethod":{"card":{${cardKeys}}}${key && `,${key}`}}`;
    const { status, body } = await partner.call('POST', '/v1/payments', text);
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ field, errorReference: '40' })]]);
  });

  test('takes an optional field that is null for a missing field', async () => {
    expect((await partner.pay(await createInvoice(), { tipAmount: null, vouchers: null })).status).toBe(201);
  });

  test('is rejected with a 400 that names all invalid fields: first malformed fields, then fields that violate a rule', async () => {
    const { status, body } = await partner.pay(await createInvoice(), {
      amount: 0,
      tipAmount: -1,
      customer: undefined,
      code: 'aGk=',
      returnUrl: 'http://partner.example/',
      paymentMethod: {
        card: buildPlainCard({ cvv: undefined }),
        external: { type: 'EFT', status: 'success', reference: '1' },
      },
    });
    expect([status, body.code]).toEqual([400, 'request.invalid']);
    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual([
      'amount',
      'tipAmount',
      'customer',
      'code',
      'returnUrl',
    ]);
    const card = await partner.pay(await createInvoice(), {
      paymentMethod: { card: buildPlainCard({ cvv: undefined, expiryYear: 2020 }) },
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

  test('is rejected with a 403 for a forbidden field, even if another field is invalid', async () => {
    const customer = await partner.customer();
    for (const overrides of [{ customer: { id: randomUUID() } }, { vouchers: [{ merchantLiable: true, amount: 1 }] }]) {
      const { status, body } = await customer.pay(await createInvoice(), { ...overrides, amount: 0 });
      expect([status, body.code]).toEqual([403, 'credentials.forbidden']);
    }
  });

  test('is rejected if the state of the payable does not allow it', async () => {
    expect(await payAndReadError({ invoiceReference: randomUUID() })).toEqual([404, '21', undefined]);
    expect(await payAndReadError({ invoiceReference: undefined, code: base64('12345678901234567890') })).toEqual([
      404,
      '21',
      undefined,
    ]);
    const expired = await createInvoice({ expiresAt: '2026-03-01T09:59:59.000Z' });
    expect(await payAndReadError({}, expired)).toEqual([410, '20', undefined]);
    const closed = await createInvoice();
    await processor.closePayable(closed);
    expect(await payAndReadError({}, closed)).toEqual([409, '20', undefined]);
    const paid = await createInvoice();
    await partner.pay(paid);
    expect(await payAndReadError({}, paid)).toEqual([409, '20', undefined]);
    const live = await createInvoice({ mode: 'live' });
    expect(await payAndReadError({}, live)).toEqual([404, '21', undefined]);
  });

  test('is rejected if the merchant’s terms do not allow it', async () => {
    expect(await payAndReadError({ amount: 1 })).toEqual([422, '22', undefined]);
    expect(await payAndReadError({ tipAmount: 1 })).toEqual([422, '40', 'tipAmount']);
    merchant = await createMerchant(processor, { features: { orderReference: { required: true, label: 'Table' } } });
    expect(await payAndReadError({})).toEqual([422, '40', 'orderReference']);
    expect((await partner.pay(await createInvoice(), { orderReference: '7' })).status).toBe(201);
  });

  test('is rejected with a 503 until the event of the merchant arrives', async () => {
    merchant = { merchantId: 999_999, siteId: 5001 };
    expect(await payAndReadError({})).toEqual([503, '50', undefined]);
  });
});

test('if the response of the bank is lost, the bank is queried immediately, and the outcome is returned', async () => {
  const invoice = await createInvoice();
  const paid = await partner.pay(invoice, {
    paymentMethod: { card: buildPlainCard({ cardNumber: CARDS.responseLost }) },
  });
  expect(paid).toMatchObject({ status: 201, body: { status: 'success' } });
  expect(findCharges([paid.body.paymentReference])).toHaveLength(1);
});

describe('verification of the payer:', () => {
  const cardToVerify = { paymentMethod: { card: buildPlainCard({ cardNumber: CARDS.verificationRequired }) } };

  test('the bank redirects the payer to the platform’s return page, which finishes the payment', async () => {
    const [invoice, reference] = [await createInvoice(), randomUUID()];
    const customer = { id: randomUUID() };
    const challenged = await partner.pay(invoice, { reference, customer, ...cardToVerify });
    expect(challenged).toMatchObject({ status: 201, body: { status: 'verificationRequired', processedAmount: 0 } });
    // The job queries the bank a moment before the payer confirms.
    await processor.runCleanup();
    const page = await returnFromBank(challenged.body, 'confirm');
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('Your payment is complete');
    const style = /<style>(.*?)<\/style>/s.exec(page.body)?.[1] ?? '';
    const styleHash = createHash('sha256').update(style).digest('base64');
    expect(pickSecurityHeaders(page.headers)).toEqual({
      ...SERVICE_SECURITY_HEADERS,
      'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'cache-control': 'no-store',
    });
    const { status, body } = await partner.pay(invoice, { reference, customer, ...cardToVerify });
    expect([status, body.status, body.verificationUrl, body.processedAmount]).toEqual([
      200,
      'success',
      undefined,
      12345,
    ]);
  });

  /** Answers on the bank's page, and follows the bank's redirect to this service, as the payer's browser does. */
  async function returnFromBank(
    { paymentReference, verificationUrl }: { paymentReference?: unknown; verificationUrl?: unknown },
    answer: 'confirm' | 'refuse',
  ) {
    const body = new URLSearchParams({ answer });
    const { headers } = await fetch(verificationUrl as string, { method: 'POST', body, redirect: 'manual' });
    const { origin, pathname, search } = new URL(headers.get('location')!);
    expect(origin + pathname).toBe(`https://api.svc.example/v1/verifications/${paymentReference as string}`);
    return processor.service.app.inject({ method: 'GET', url: pathname + search });
  }

  test('after the payer returns to a page of the partner, the job queries the bank', async () => {
    const invoice = await createInvoice();
    const challenged = await partner.pay(invoice, { returnUrl: 'https://partner.example/back?x=1', ...cardToVerify });
    const page = await returnFromBank(challenged.body, 'confirm');
    expect([page.statusCode, page.headers.location]).toEqual([303, 'https://partner.example/back?x=1']);
    await waitUntil('the payment to be finished', 5_000, async () => {
      await processor.runCleanup();
      return findCharges([challenged.body.paymentReference as string]).length === 1;
    });
  });

  test('a return URL with HTTP on localhost is accepted in development, and rejected in production', async () => {
    const returnUrl = 'http://localhost/back';
    expect((await partner.pay(await createInvoice(), { returnUrl })).status).toBe(201);
    const production = await startProcessor({ SVC_ENVIRONMENT: 'production' });
    const otherPartner = await createPartner(production);
    const invoice = await openInvoice(production, await createMerchant(production));
    const { status, body } = await otherPartner.pay(invoice, { returnUrl });
    await production.stop();
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ field: 'returnUrl' })]]);
  });

  test('the bank redirects the payer to the return URL as the partner sent it, encoded only as a header requires', async () => {
    const returnUrl = ' https://partner.example/a\nb/é?name=Caf%E9&x=a%20b~c&flag ';
    const challenged = await partner.pay(await createInvoice(), { returnUrl, ...cardToVerify });
    expect(challenged).toMatchObject({ status: 201, body: { status: 'verificationRequired' } });
    const page = await returnFromBank(challenged.body, 'refuse');
    expect(page.headers.location).toBe('https://partner.example/ab/%C3%A9?name=Caf%E9&x=a%20b~c&flag');
  });

  test('the return page responds with 404 for unknown references', async () => {
    for (const text of ['x', '0'.repeat(18), randomUUID()])
      expect((await processor.service.app.inject({ method: 'GET', url: `/v1/verifications/${text}` })).statusCode).toBe(
        404,
      );
  });
});
