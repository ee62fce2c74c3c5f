import {
  CreateInvoiceRequest,
  isQuantity,
  isUnitPrice,
  isUtcDate,
  LineItemRequest,
  type PayableState,
} from '@svc/contracts';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { anInvoiceRequest } from '../../test/invoice-request.js';
import {
  fingerprintOf,
  invoiceState,
  lineItemOf,
  MAX_INVOICE_ATTEMPTS,
  payableOf,
  type StoredInvoice,
  toInvoice,
} from './invoice.js';

const AT = new Date('2026-03-01T10:00:00.000Z');
const [BEFORE, AFTER] = [new Date(AT.getTime() - 1), new Date(AT.getTime() + 1)];

test.each<[PayableState, Date | null, Date, string]>([
  ['open', null, BEFORE, 'open'],
  ['open', null, AT, 'expired'],
  ['reserved', null, AFTER, 'open'],
  ['paid', AFTER, AFTER, 'closed'],
  ['refused', BEFORE, BEFORE, 'closed'],
  ['closed', BEFORE, AFTER, 'closed'],
  ['closed', AT, AFTER, 'expired'],
])('the invoice of a payable that is %s, closed at %p, is at %p %s', (payableState, closedAt, now, state) => {
  expect(invoiceState({ payableState, closedAt, expiresAt: AT }, now)).toBe(state);
});

test.each([0, 1, 100_000_000_000, '0', '007', '100000000000'])('%j is a unit price', (value) =>
  expect(isUnitPrice(value)).toBe(true),
);
test.each([
  -1,
  0.5,
  NaN,
  Infinity,
  100_000_000_001,
  '100000000001',
  '',
  '-1',
  '1.5',
  ' 1',
  '1e3',
  '0x1',
  null,
  true,
  [1],
])('%p is not a unit price', (value) => expect(isUnitPrice(value)).toBe(false));
test.each([1, -1, 0.125, -0.5, 1_000_000])('%d is a quantity', (value) => expect(isQuantity(value)).toBe(true));
test.each([0, -0, NaN, Infinity, 1_000_001, '1', null])('%p is not a quantity', (value) =>
  expect(isQuantity(value)).toBe(false),
);
test.each(['2026-11-20T18:03:36.123Z', '2026-11-20T18:03:36Z', '2024-02-29T00:00:00.1Z'])('%s is a date', (value) =>
  expect(isUtcDate(value)).toBe(true),
);
test.each([
  '2026-11-20',
  '2026-11-20T18:03:36',
  '2026-11-20T18:03:36+02:00',
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-11-20T24:00:00Z',
  '1999-01-01T00:00:00Z',
  '+012026-01-01T00:00:00Z',
  1_763_500_000,
  null,
])('%p is not a date', (value) => expect(isUtcDate(value)).toBe(false));

const fieldsOf = (body: object): string[] =>
  validateSync(plainToInstance(CreateInvoiceRequest, body), { stopAtFirstError: true })
    .flatMap((error) => (error.children?.length ? error.children.flatMap((item) => item.children ?? []) : [error]))
    .map(({ property }) => property);

test.each<[string, Record<string, unknown>, string[]]>([
  ['as it should be', {}, []],
  ['without externalReference', { externalReference: undefined }, []],
  ['with null for what is optional', { externalReference: null, lineItems: null, originReference: null }, []],
  [
    'with null members of a line',
    { lineItems: [{ sku: 's', unitPrice: 1, name: null, productCode: null, categories: null, quantity: null }] },
    [],
  ],
  ['with neither product code nor sku', { lineItems: [{ unitPrice: 1 }] }, ['productCode']],
  [
    'with an empty product code beside a sku',
    { lineItems: [{ sku: 's', productCode: '', unitPrice: 1 }] },
    ['productCode'],
  ],
  [
    'with eleven categories',
    { lineItems: [{ sku: 's', unitPrice: 1, categories: Array(11).fill('c') }] },
    ['categories'],
  ],
  ['with a category that is no text', { lineItems: [{ sku: 's', unitPrice: 1, categories: [1] }] }, ['categories']],
  ['of nothing', { amount: 0 }, ['amount']],
  ['of text', { amount: '1' }, ['amount']],
  ['in dollars', { currencyISOCode: 'USD' }, ['currencyISOCode']],
  ['of no till', { siteReference: ' ' }, ['siteReference']],
  ['without origin', { origin: undefined }, ['origin']],
  ['of yesterday in words', { createdUTCDate: 'yesterday' }, ['createdUTCDate']],
  ['with 501 lines', { lineItems: Array(501).fill({ sku: 's', unitPrice: 1 }) }, ['lineItems']],
])('an invoice %s has the invalid fields %j', (_, over, fields) =>
  expect(fieldsOf(anInvoiceRequest(over))).toEqual(fields),
);

test('a line item is stored with its price as text and without absent members', () => {
  expect(lineItemOf(Object.assign(new LineItemRequest(), { sku: 's', unitPrice: 150, name: null }))).toEqual({
    sku: 's',
    unitPrice: '150',
  });
});

test.each([
  ['amount', { amount: 1 }],
  ['siteReference', { siteReference: 'TILL-2' }],
  ['origin', { origin: 'other' }],
  ['createdUTCDate', { createdUTCDate: '2026-03-01T09:59:59.000Z' }],
  ['originReference', { originReference: 'x' }],
  ['a line', { lineItems: [{ sku: 's', unitPrice: 1 }] }],
  ['no lines but an empty list', { lineItems: [] }],
])('another %s changes the fingerprint', (_, over) => {
  const of = (more: object): string => fingerprintOf(anInvoiceRequest({ externalReference: 'e', ...more }) as never);
  expect(of(over)).not.toBe(of({}));
});

test.each([
  ['a field that nobody knows', { tableNumber: 4 }],
  ['null for what is absent', { originReference: null, lineItems: null }],
  ['a date without milliseconds', { createdUTCDate: '2026-03-01T09:59:58Z' }],
])('%s does not change the fingerprint', (_, over) => {
  const of = (more: object): string => fingerprintOf(anInvoiceRequest({ externalReference: 'e', ...more }) as never);
  expect(of(over)).toBe(of({}));
});

const STORED: StoredInvoice = {
  invoiceId: 'i-1',
  mode: 'live',
  merchantId: 1001,
  siteId: 5001,
  siteReference: 'TILL-1',
  externalReference: 'e-1',
  fingerprint: 'f',
  code: '01234567890123456789',
  amount: 12_345,
  currencyISOCode: 'ZAR',
  lineItems: [{ sku: 's', unitPrice: '1' }],
  origin: 'till',
  originReference: 'o-1',
  createdUTCDate: new Date('2026-03-01T09:59:58Z'),
  madeAt: AT,
  expiresAt: AFTER,
  payableState: 'open',
  payableVersion: 1,
  closedAt: null,
};

test('the payable of an invoice contains the invoice, its till and its code', () => {
  const source = {
    kind: 'invoice',
    invoiceReference: 'i-1',
    externalReference: 'e-1',
    siteReference: 'TILL-1',
    code: '01234567890123456789',
  };
  expect(payableOf(STORED)).toStrictEqual({
    payableId: 'i-1',
    mode: 'live',
    merchantId: 1001,
    siteId: 5001,
    amount: 12_345,
    currencyISOCode: 'ZAR',
    expiresAt: '2026-03-01T10:00:00.001Z',
    triesMax: MAX_INVOICE_ATTEMPTS,
    source,
  });
  const { externalReference: _, ...without } = source;
  expect(payableOf({ ...STORED, externalReference: null }).source).toStrictEqual(without);
});

test('an invoice is returned as the specification defines it, without unknown members', () => {
  const shown = {
    siteReference: 'TILL-1',
    currencyISOCode: 'ZAR',
    amount: 12_345,
    createdUTCDate: '2026-03-01T09:59:58.000Z',
    origin: 'till',
    invoiceReference: 'i-1',
    state: 'closed',
  };
  const known = { lineItems: [{ sku: 's', unitPrice: '1' }], originReference: 'o-1' };
  expect(toInvoice(STORED, 'closed')).toStrictEqual({ ...shown, ...known });
  expect(toInvoice({ ...STORED, lineItems: null, originReference: null }, 'closed')).toStrictEqual(shown);
});

test('a line item keeps all its members', () => {
  const line = { name: 'n', productCode: 'p', sku: 's', unitPrice: '007', categories: ['c'], quantity: 2 };
  expect(lineItemOf(line)).toStrictEqual({ ...line, unitPrice: '7' });
  expect(lineItemOf({ ...line, name: null, categories: null })).not.toHaveProperty('categories');
});

const LINE = { name: 'n', productCode: 'p', sku: 's', unitPrice: '7', categories: ['c'], quantity: 2 };
const withLine = (change: object): string =>
  fingerprintOf(anInvoiceRequest({ externalReference: 'e', lineItems: [{ ...LINE, ...change }] }) as never);

test.each([
  { name: 'm' },
  { name: null },
  { productCode: 'q' },
  { sku: undefined },
  { unitPrice: '8' },
  { categories: ['d'] },
  { categories: null },
  { quantity: 3 },
  { quantity: undefined },
])('a line item with %j changes the fingerprint', (change) => {
  expect(withLine(change)).not.toBe(withLine({}));
  expect(withLine(change)).toMatch(/^[0-9a-f]{64}$/);
});

test('leading zeros of a price, and null instead of an absent member, do not change the fingerprint', () => {
  expect(withLine({ unitPrice: 7 })).toBe(withLine({ unitPrice: '07' }));
  for (const member of ['name', 'productCode', 'sku', 'categories', 'quantity'])
    expect(withLine({ [member]: null })).toBe(withLine({ [member]: undefined }));
});

// Stored with each invoice: with another fingerprint, a retry of a request in flight would replace its invoice.
test('the fingerprint of a request is the same in every release', () => {
  expect(withLine({})).toBe('a7fc5dbfa61255b9c03b32fddf6977cb84c1567fabcea792edc3599c12f71999');
});
