import { randomUUID } from 'node:crypto';
import { type PartnerPayment, ShowPaymentV1 } from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { anAnonymousPayment, aPayment, paymentEvent } from '@svc/testing';
import { type History, startHistory } from '../../test/history.js';
import { createOrganisation, type Organisation } from '../../test/organisation.js';
import { PaymentsConsumer } from './payments.consumer.js';

let history: History;
let organisation: Organisation;
let customer: string;
beforeAll(async () => (history = await startHistory()));
afterAll(() => history.stop());
beforeEach(async () => {
  organisation = await createOrganisation(history);
  [customer] = organisation.customers;
});

/** The fields of each resource in the specification, with their types. `?` marks an optional field. */
const ERROR = { errorReference: 'string', message: 'string' } as const;
const CUSTOMER = { id: 'string', firstName: 'string', lastName: 'string' } as const;
const SINGLE_PAYMENT = {
  reference: 'string',
  paymentReference: 'string',
  merchantName: 'string',
  status: 'number',
  paymentMethodLabel: 'string',
  currencyISOCode: 'string',
  invoicedAmount: 'number',
  amount: 'number',
  tipAmount: 'number',
  processedAmount: 'number',
  modifiedUTCDate: 'date',
  errors: 'array',
} as const;
const HISTORY_ITEM = {
  reference: 'string',
  'invoiceReference?': 'string',
  'invoiceExternalReference?': 'string',
  merchantName: 'string',
  currencyISOCode: 'string',
  invoicedAmount: 'number',
  paymentReference: 'string',
  paymentUTCDate: 'date',
  paymentMethodType: 'string',
  paymentMethodDescription: 'string',
  status: 'string',
  'verificationUrl?': 'string',
  tipAmount: 'number',
  processedAmount: 'number',
  customer: 'object',
  siteReference: 'string',
  errors: 'array or null',
} as const;

/** Returns the names of fields that are missing, not specified, or of another type. */
function findDifferences(value: object, fieldTypes: Readonly<Record<string, string>>): string[] {
  const fields = new Map(Object.entries(fieldTypes).map(([name, type]) => [name.replace('?', ''), type]));
  const missing = Object.keys(fieldTypes).filter((name) => !name.endsWith('?') && !(name in value));
  const invalid = Object.entries(value).filter(([name, member]) => {
    const type = fields.get(name);
    if (type === 'date') return !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(member));
    if (type === 'array') return !Array.isArray(member);
    if (type === 'array or null') return member !== null && !Array.isArray(member);
    return typeof member !== type;
  });
  return [...missing, ...invalid.map(([name]) => name)];
}

/** The kinds of payments, each with a title, the numeric status (P2), and the fields that differ. */
const PAYMENT_KINDS: [string, number, Partial<PartnerPayment>][] = [
  ['a successful payment', 1, { invoiceReference: randomUUID(), invoiceExternalReference: 'INV-1' }],
  [
    'a declined payment',
    2,
    { state: 'failed', processedAmount: 0, errors: [{ errorReference: '10', message: 'It was declined.' }] },
  ],
  [
    'a payment that requires verification',
    3,
    { state: 'verificationRequired', processedAmount: 0, verificationUrl: 'https://bank.example/v/1' },
  ],
  ['a payment in progress', 4, { state: 'processing', processedAmount: 0 }],
  ['an external payment', 1, { paymentMethodType: 'External', paymentMethodLabel: 'Cash' }],
  ['a payment by vouchers', 1, { paymentMethodType: 'Voucher', vouchers: [{ merchantLiable: true, amount: 12_345 }] }],
  ['a payment of a customer without a name', 1, {}],
];

describe.each(PAYMENT_KINDS)('%s', (kind, status, overrides) => {
  const deliverPaymentOfKind = async (): Promise<PartnerPayment> => {
    const payment = aPayment(organisation.organisationId, customer, overrides);
    const nameless = {
      ...payment,
      partner: { ...payment.partner, customer: { id: customer, firstName: '', lastName: '' } },
    };
    const deliveredPayment = kind.includes('without a name') ? nameless : payment;
    await history.deliver(paymentEvent(deliveredPayment));
    return deliveredPayment;
  };

  it('has the specified fields when it is read alone', async () => {
    const payment = await deliverPaymentOfKind();
    const single = await history.getPayment(payment.paymentReference, organisation.serviceHeaders);
    expect(findDifferences(single, SINGLE_PAYMENT)).toEqual([]);
    for (const error of single.errors) expect(findDifferences(error, ERROR)).toEqual([]);
    expect(single).toMatchObject({
      status,
      reference: payment.reference,
      merchantName: 'Karoo Books',
      paymentMethodLabel: payment.paymentMethodLabel,
      amount: 12_345,
      tipAmount: 1_000,
      processedAmount: payment.processedAmount,
      modifiedUTCDate: '2026-03-01T10:00:01.456Z',
      errors: payment.errors,
    });
  });

  it('has the specified fields in a page of the history', async () => {
    const payment = await deliverPaymentOfKind();
    const page = await history.getPage('', organisation.serviceHeaders);
    expect(Object.keys(page!)).toEqual(['payments']);
    const [item] = page!.payments;
    expect(findDifferences(item!, HISTORY_ITEM)).toEqual([]);
    expect(findDifferences(item!.customer, CUSTOMER)).toEqual([]);
    expect(item).toMatchObject({
      status: payment.state,
      paymentReference: payment.paymentReference,
      paymentUTCDate: '2026-03-01T10:00:00.123Z',
      paymentMethodType: payment.paymentMethodType,
      paymentMethodDescription: payment.paymentMethodLabel,
      customer: payment.partner.customer,
      siteReference: 'TILL-1',
      errors: payment.errors.length > 0 ? payment.errors : null,
    });
    for (const name of ['invoiceReference', 'invoiceExternalReference', 'verificationUrl'] as const)
      expect(item![name]).toBe(payment[name]);
  });
});

test('a payment is found by its reference in upper or lower case, and any other reference causes a 404 without a body', async () => {
  const payment = aPayment(organisation.organisationId, customer);
  await history.deliver(paymentEvent(payment));
  const { paymentReference } = payment;
  expect(await history.getPayment(paymentReference.toLowerCase(), organisation.serviceHeaders)).toMatchObject({
    paymentReference,
  });
  const unknown = newPaymentReference(new Date());
  const mistyped = `${paymentReference.slice(0, -1)}${paymentReference.endsWith('0') ? '1' : '0'}`;
  for (const text of [unknown, mistyped, 'x', randomUUID(), '%00', '%F0%9F%92%B8', "' OR 1=1", '..%2F..']) {
    const { status, text: body, headers } = await history.get(`/v1/payments/${text}`, organisation.serviceHeaders);
    expect([text, status, body]).toEqual([text, 404, '']);
    expect(headers).toMatchObject({ 'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/) });
  }
});

test('an invalid page number causes a 400, a page without payments a 204, and a missing credential a 401', async () => {
  const response = await history.get('/v1/payments?page=0&pageSize=many', organisation.serviceHeaders);
  expect(response.status).toBe(400);
  expect(response.headers['content-type']).toContain('application/problem+json');
  expect((JSON.parse(response.text) as { errors: { field: string; errorReference: string }[] }).errors).toEqual([
    expect.objectContaining({ field: 'page', errorReference: '40' }),
    expect.objectContaining({ field: 'pageSize', errorReference: '40' }),
  ]);
  expect(await history.get('/v1/payments?page=0', {})).toMatchObject({ status: 401, text: '' });
  const getStatusAndBody = async (query: string, headers = organisation.serviceHeaders) => {
    const { status, text } = await history.get(`/v1/payments${query}`, headers);
    return [status, text];
  };
  expect(await getStatusAndBody('')).toEqual([204, '']);
  await history.deliver(paymentEvent(aPayment(organisation.organisationId, customer)));
  expect(await getStatusAndBody('?page=2')).toEqual([204, '']);
  expect(await getStatusAndBody('?page=1000000000&pageSize=1000000000')).toEqual([204, '']);
  // An empty customerReference belongs to no customer.
  expect(await getStatusAndBody('?customerReference=')).toEqual([204, '']);
  expect(await getStatusAndBody('?customerReference=', organisation.customerHeaders[0])).toEqual([204, '']);
  expect(await getStatusAndBody(`?customerReference=${'x'.repeat(5_000)}`)).toEqual([204, '']);
  expect(await getStatusAndBody('?customerReference=%00')).toEqual([204, '']);
  const responseForOtherCustomer = await history.get(
    '/v1/payments?page=0&customerReference=another',
    organisation.customerHeaders[0],
  );
  expect([responseForOtherCustomer.status, JSON.parse(responseForOtherCustomer.text)]).toEqual([
    400,
    expect.objectContaining({ errors: [expect.objectContaining({ field: 'page' })] }),
  ]);
});

test('payments of anonymous payers are not in the history', async () => {
  const payment = anAnonymousPayment();
  await history.deliver(paymentEvent(payment));
  expect(await new Commands(history.broker).request(ShowPaymentV1, { payment, version: 2 })).toEqual({ shown: true });
  expect(await history.get(`/v1/payments/${payment.paymentReference}`, organisation.serviceHeaders)).toMatchObject({
    status: 404,
  });
  expect(
    await history.dataSource.query('SELECT * FROM payments WHERE payment_reference = $1', [payment.paymentReference]),
  ).toEqual([]);
});

test('events of anonymous payers store nothing, even if the broker delivers them', async () => {
  const payment = anAnonymousPayment();
  await history.service.app.get(PaymentsConsumer).onPayment([paymentEvent(payment)]);
  expect(
    await history.dataSource.query('SELECT * FROM payments WHERE payment_reference = $1', [payment.paymentReference]),
  ).toEqual([]);
});

test('a payment is readable after the reply to the command show-payment, and its later events change nothing', async () => {
  const payment = aPayment(organisation.organisationId, customer);
  const version = 2;
  const commands = new Commands(history.broker);
  expect(await commands.request(ShowPaymentV1, { payment, version })).toEqual({ shown: true });
  const first = await history.getPayment(payment.paymentReference, organisation.serviceHeaders);
  await history.deliver(
    paymentEvent({ ...payment, state: 'processing', processedAmount: 0 }, 1),
    paymentEvent(payment, version),
  );
  expect(await history.getPayment(payment.paymentReference, organisation.serviceHeaders)).toEqual(first);
  expect((await history.getPage('', organisation.serviceHeaders))?.payments).toHaveLength(1);
});

test('the links of pages lead through the whole history and keep the other query parameters', async () => {
  const payments = Array.from({ length: 7 }, (_, i) =>
    aPayment(organisation.organisationId, customer, { paymentUTCDate: `2026-03-01T10:00:0${i}.000Z` }),
  );
  await history.deliver(...payments.map((payment) => paymentEvent(payment)));
  const references: string[] = [];
  const previousPages: (string | undefined)[] = [];
  let next: string | undefined = `/v1/payments?pageSize=3&customerReference=${customer}&from=app`;
  while (next !== undefined) {
    const page = await history.getPage(next.slice('/v1/payments'.length), organisation.serviceHeaders);
    references.push(...page!.payments.map(({ paymentReference }) => paymentReference));
    previousPages.push(page!.previousPage);
    next = page!.nextPage;
  }
  expect(references).toEqual(payments.toReversed().map(({ paymentReference }) => paymentReference));
  const link = (page: number) => `/v1/payments?pageSize=3&customerReference=${customer}&from=app&page=${page}`;
  expect(previousPages).toEqual([undefined, link(1), link(2)]);
});
