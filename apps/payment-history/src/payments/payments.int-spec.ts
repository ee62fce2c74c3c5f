import { randomUUID } from 'node:crypto';
import { type PartnerPayment, ShowPaymentV1 } from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { anAnonymousPayment, aPayment, paymentEvent } from '@svc/testing';
import { type History, startHistory } from '../../test/history.js';
import { createOrganisation, type Organisation } from '../../test/organisation.js';

let history: History;
let ours: Organisation;
let customer: string;
beforeAll(async () => (history = await startHistory()));
afterAll(() => history.stop());
beforeEach(async () => {
  ours = await createOrganisation(history);
  [customer] = ours.customers;
});

/** The specification's fields, their types, and whether they are always there; one list for each resource. */
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

/** Names of fields that are missing, too many, or of another type. */
function differences(value: object, described: Readonly<Record<string, string>>): string[] {
  const fields = new Map(Object.entries(described).map(([name, type]) => [name.replace('?', ''), type]));
  const missing = Object.keys(described).filter((name) => !name.endsWith('?') && !(name in value));
  const wrong = Object.entries(value).filter(([name, member]) => {
    const type = fields.get(name);
    if (type === 'date') return !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(member));
    if (type === 'array') return !Array.isArray(member);
    if (type === 'array or null') return member !== null && !Array.isArray(member);
    return typeof member !== type;
  });
  return [...missing, ...wrong.map(([name]) => name)];
}

/** Every kind of payment there is, with the numeric status of P2. */
const KINDS: [string, number, Partial<PartnerPayment>][] = [
  ['a success', 1, { invoiceReference: randomUUID(), invoiceExternalReference: 'INV-1' }],
  [
    'a decline',
    2,
    { state: 'failed', processedAmount: 0, errors: [{ errorReference: '10', message: 'It was declined.' }] },
  ],
  [
    'one that is to be verified',
    3,
    { state: 'verificationRequired', processedAmount: 0, verificationUrl: 'https://bank.example/v/1' },
  ],
  ['one under way', 4, { state: 'processing', processedAmount: 0 }],
  ['one made elsewhere', 1, { paymentMethodType: 'External', paymentMethodLabel: 'Cash' }],
  [
    'one covered by vouchers',
    1,
    { paymentMethodType: 'Voucher', vouchers: [{ merchantLiable: true, amount: 12_345 }] },
  ],
  ['one of somebody without a name', 1, {}],
];

describe.each(KINDS)('%s', (kind, status, over) => {
  const made = async (): Promise<PartnerPayment> => {
    const payment = aPayment(ours.organisationId, customer, over);
    const nameless = {
      ...payment,
      partner: { ...payment.partner, customer: { id: customer, firstName: '', lastName: '' } },
    };
    const one = kind.includes('without a name') ? nameless : payment;
    await history.deliver(paymentEvent(one));
    return one;
  };

  it('has the fields of the single payment', async () => {
    const payment = await made();
    const single = await history.getPayment(payment.paymentReference, ours.serviceHeaders);
    expect(differences(single, SINGLE_PAYMENT)).toEqual([]);
    for (const error of single.errors) expect(differences(error, ERROR)).toEqual([]);
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

  it('has the fields of the history item', async () => {
    const payment = await made();
    const page = await history.getPage('', ours.serviceHeaders);
    expect(Object.keys(page!)).toEqual(['payments']);
    const [item] = page!.payments;
    expect(differences(item!, HISTORY_ITEM)).toEqual([]);
    expect(differences(item!.customer, CUSTOMER)).toEqual([]);
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

test('a reference is found in upper and lower case; an invalid or unknown one is a 404 with an empty body', async () => {
  const payment = aPayment(ours.organisationId, customer);
  await history.deliver(paymentEvent(payment));
  const { paymentReference } = payment;
  expect(await history.getPayment(paymentReference.toLowerCase(), ours.serviceHeaders)).toMatchObject({ paymentReference });
  const unknown = newPaymentReference(new Date());
  const mistyped = `${paymentReference.slice(0, -1)}${paymentReference.endsWith('0') ? '1' : '0'}`;
  for (const text of [unknown, mistyped, 'x', randomUUID(), '%00', '%F0%9F%92%B8', "' OR 1=1", '..%2F..']) {
    const { status, text: body, headers } = await history.get(`/v1/payments/${text}`, ours.serviceHeaders);
    expect([text, status, body]).toEqual([text, 404, '']);
    expect(headers).toMatchObject({ 'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/) });
  }
});

test('an invalid number is a 400 that names it; a page without payments is a 204; authentication comes before both', async () => {
  const wrong = await history.get('/v1/payments?page=0&pageSize=many', ours.serviceHeaders);
  expect(wrong.status).toBe(400);
  expect(wrong.headers['content-type']).toContain('application/problem+json');
  expect((JSON.parse(wrong.text) as { errors: { field: string; errorReference: string }[] }).errors).toEqual([
    expect.objectContaining({ field: 'page', errorReference: '40' }),
    expect.objectContaining({ field: 'pageSize', errorReference: '40' }),
  ]);
  expect(await history.get('/v1/payments?page=0', {})).toMatchObject({ status: 401, text: '' });
  const nothing = async (query: string, headers = ours.serviceHeaders) => {
    const { status, text } = await history.get(`/v1/payments${query}`, headers);
    return [status, text];
  };
  expect(await nothing('')).toEqual([204, '']);
  await history.deliver(paymentEvent(aPayment(ours.organisationId, customer)));
  expect(await nothing('?page=2')).toEqual([204, '']);
  expect(await nothing('?page=1000000000&pageSize=1000000000')).toEqual([204, '']);
  // An empty customerReference belongs to no customer.
  expect(await nothing('?customerReference=')).toEqual([204, '']);
  expect(await nothing('?customerReference=', ours.customerHeaders[0])).toEqual([204, '']);
  expect(await nothing(`?customerReference=${'x'.repeat(5_000)}`)).toEqual([204, '']);
  expect(await nothing('?customerReference=%00')).toEqual([204, '']);
  const ofAnother = await history.get('/v1/payments?page=0&customerReference=another', ours.customerHeaders[0]);
  expect([ofAnother.status, JSON.parse(ofAnother.text)]).toEqual([
    400,
    expect.objectContaining({ errors: [expect.objectContaining({ field: 'page' })] }),
  ]);
});

test('payments of anonymous payers are in no history', async () => {
  const payment = anAnonymousPayment();
  await history.deliver(paymentEvent(payment));
  expect(await new Commands(history.broker).request(ShowPaymentV1, { payment, version: 2 })).toEqual({ shown: true });
  expect(await history.get(`/v1/payments/${payment.paymentReference}`, ours.serviceHeaders)).toMatchObject({ status: 404 });
  expect(
    await history.dataSource.query('SELECT * FROM payments WHERE payment_reference = $1', [payment.paymentReference]),
  ).toEqual([]);
});

test('a payment of the command is readable after the reply, and the event changes nothing', async () => {
  const payment = aPayment(ours.organisationId, customer);
  const version = 2;
  const commands = new Commands(history.broker);
  expect(await commands.request(ShowPaymentV1, { payment, version })).toEqual({ shown: true });
  const first = await history.getPayment(payment.paymentReference, ours.serviceHeaders);
  await history.deliver(
    paymentEvent({ ...payment, state: 'processing', processedAmount: 0 }, 1),
    paymentEvent(payment, version),
  );
  expect(await history.getPayment(payment.paymentReference, ours.serviceHeaders)).toEqual(first);
  expect((await history.getPage('', ours.serviceHeaders))?.payments).toHaveLength(1);
});

test('links lead through all pages and keep the other parameters', async () => {
  const payments = Array.from({ length: 7 }, (_, i) =>
    aPayment(ours.organisationId, customer, { paymentUTCDate: `2026-03-01T10:00:0${i}.000Z` }),
  );
  await history.deliver(...payments.map((payment) => paymentEvent(payment)));
  const seen: string[] = [];
  const backwards: (string | undefined)[] = [];
  let next: string | undefined = `/v1/payments?pageSize=3&customerReference=${customer}&from=app`;
  while (next !== undefined) {
    const page = await history.getPage(next.slice('/v1/payments'.length), ours.serviceHeaders);
    seen.push(...page!.payments.map(({ paymentReference }) => paymentReference));
    backwards.push(page!.previousPage);
    next = page!.nextPage;
  }
  expect(seen).toEqual(payments.toReversed().map(({ paymentReference }) => paymentReference));
  const link = (page: number) => `/v1/payments?pageSize=3&customerReference=${customer}&from=app&page=${page}`;
  expect(backwards).toEqual([undefined, link(1), link(2)]);
});
