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
import { buildInvoiceRequest } from '../../test/invoice-request.js';
import {
  buildInvoice,
  computeInvoiceFingerprint,
  createPayableDescriptor,
  invoiceState,
  MAX_INVOICE_PAYMENTS,
  normaliseLineItem,
  type StoredInvoice,
} from './invoice.js';

const EXPIRY = new Date('2026-03-01T10:00:00.000Z');
const [BEFORE_EXPIRY, AFTER_EXPIRY] = [new Date(EXPIRY.getTime() - 1), new Date(EXPIRY.getTime() + 1)];

test.each<[PayableState, Date | null, Date, string]>([
  ['open', null, BEFORE_EXPIRY, 'open'],
  ['open', null, EXPIRY, 'expired'],
  ['reserved', null, AFTER_EXPIRY, 'open'],
  ['paid', AFTER_EXPIRY, AFTER_EXPIRY, 'closed'],
  ['refused', BEFORE_EXPIRY, BEFORE_EXPIRY, 'closed'],
  ['closed', BEFORE_EXPIRY, AFTER_EXPIRY, 'closed'],
  ['closed', EXPIRY, AFTER_EXPIRY, 'expired'],
])(
  'if the payable is %s (closedAt: %p) and the time is %p, the state of the invoice is %s',
  (payableState, closedAt, now, state) => {
    expect(invoiceState({ payableState, closedAt, expiresAt: EXPIRY }, now)).toBe(state);
  },
);

test.each([0, 1, 100_000_000_000, '0', '007', '100000000000'])('isUnitPrice accepts %j', (value) =>
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
])('isUnitPrice rejects %p', (value) => expect(isUnitPrice(value)).toBe(false));
test.each([1, -1, 0.125, -0.5, 1_000_000])('isQuantity accepts %d', (value) => expect(isQuantity(value)).toBe(true));
test.each([0, -0, NaN, Infinity, 1_000_001, '1', null])('isQuantity rejects %p', (value) =>
  expect(isQuantity(value)).toBe(false),
);
test.each(['2026-11-20T18:03:36.123Z', '2026-11-20T18:03:36Z', '2024-02-29T00:00:00.1Z'])(
  'isUtcDate accepts %s',
  (value) => expect(isUtcDate(value)).toBe(true),
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
])('isUtcDate rejects %p', (value) => expect(isUtcDate(value)).toBe(false));

/** Names of the fields that fail validation. */
const findInvalidFields = (body: object): string[] =>
  validateSync(plainToInstance(CreateInvoiceRequest, body), { stopAtFirstError: true })
    .flatMap((error) => (error.children?.length ? error.children.flatMap((item) => item.children ?? []) : [error]))
    .map(({ property }) => property);

test.each<[string, Record<string, unknown>, string[]]>([
  ['with valid values', {}, []],
  ['without externalReference', { externalReference: undefined }, []],
  ['with null in optional fields', { externalReference: null, lineItems: null, originReference: null }, []],
  [
    'with null in optional members of a line item',
    { lineItems: [{ sku: 's', unitPrice: 1, name: null, productCode: null, categories: null, quantity: null }] },
    [],
  ],
  ['with a line item that has neither product code nor sku', { lineItems: [{ unitPrice: 1 }] }, ['productCode']],
  [
    'with a line item that has an empty product code and a sku',
    { lineItems: [{ sku: 's', productCode: '', unitPrice: 1 }] },
    ['productCode'],
  ],
  [
    'with a line item that has eleven categories',
    { lineItems: [{ sku: 's', unitPrice: 1, categories: Array(11).fill('c') }] },
    ['categories'],
  ],
  ['with a category that is not text', { lineItems: [{ sku: 's', unitPrice: 1, categories: [1] }] }, ['categories']],
  ['with the amount 0', { amount: 0 }, ['amount']],
  ['with an amount that is text', { amount: '1' }, ['amount']],
  ['with the currency USD', { currencyISOCode: 'USD' }, ['currencyISOCode']],
  ['with a blank siteReference', { siteReference: ' ' }, ['siteReference']],
  ['without origin', { origin: undefined }, ['origin']],
  ['with a date in words', { createdUTCDate: 'yesterday' }, ['createdUTCDate']],
  ['with 501 line items', { lineItems: Array(501).fill({ sku: 's', unitPrice: 1 }) }, ['lineItems']],
])('the invalid fields of a request %s are %j', (_, changes, fields) =>
  expect(findInvalidFields(buildInvoiceRequest(changes))).toEqual(fields),
);

test('a line item is stored with its price as text, and without members that are null or absent', () => {
  expect(normaliseLineItem(Object.assign(new LineItemRequest(), { sku: 's', unitPrice: 150, name: null }))).toEqual({
    sku: 's',
    unitPrice: '150',
  });
});

/** The fingerprint of a valid request with these changes. */
const fingerprintWith = (changes: object): string =>
  computeInvoiceFingerprint(buildInvoiceRequest({ externalReference: 'e', ...changes }) as never);

test.each([
  ['amount', { amount: 1 }],
  ['siteReference', { siteReference: 'TILL-2' }],
  ['origin', { origin: 'other' }],
  ['createdUTCDate', { createdUTCDate: '2026-03-01T09:59:59.000Z' }],
  ['originReference', { originReference: 'x' }],
  ['list of line items', { lineItems: [{ sku: 's', unitPrice: 1 }] }],
  ['list of line items (empty instead of absent)', { lineItems: [] }],
])('another %s changes the fingerprint of a request', (_, changes) => {
  expect(fingerprintWith(changes)).not.toBe(fingerprintWith({}));
});

test.each([
  ['a field that is not in the specification', { tableNumber: 4 }],
  ['null instead of absent fields', { originReference: null, lineItems: null }],
  ['a date without milliseconds', { createdUTCDate: '2026-03-01T09:59:58Z' }],
])('%s does not change the fingerprint of a request', (_, changes) => {
  expect(fingerprintWith(changes)).toBe(fingerprintWith({}));
});

const STORED: StoredInvoice = {
  invoiceId: 'i-1',
  mode: 'live',
  merchantId: 1001,
  siteId: 5001,
  siteReference: 'TILL-1',
  externalReference: 'e-1',
  invoiceFingerprint: 'f',
  code: '01234567890123456789',
  amount: 12_345,
  currencyISOCode: 'ZAR',
  lineItems: [{ sku: 's', unitPrice: '1' }],
  origin: 'till',
  originReference: 'o-1',
  createdUTCDate: new Date('2026-03-01T09:59:58Z'),
  createdAt: EXPIRY,
  expiresAt: AFTER_EXPIRY,
  payableState: 'open',
  payableVersion: 1,
  closedAt: null,
  requestedBy: null,
};

test('the payable of an invoice contains the references of the invoice and its till, and the code', () => {
  const source = {
    kind: 'invoice',
    invoiceReference: 'i-1',
    externalReference: 'e-1',
    siteReference: 'TILL-1',
    code: '01234567890123456789',
  };
  expect(createPayableDescriptor(STORED)).toStrictEqual({
    payableId: 'i-1',
    mode: 'live',
    merchantId: 1001,
    siteId: 5001,
    amount: 12_345,
    currencyISOCode: 'ZAR',
    expiresAt: '2026-03-01T10:00:00.001Z',
    maxPayments: MAX_INVOICE_PAYMENTS,
    source,
  });
  const { externalReference: _, ...sourceWithoutReference } = source;
  expect(createPayableDescriptor({ ...STORED, externalReference: null }).source).toStrictEqual(sourceWithoutReference);
});

test('an invoice is returned with the members of the specification, and members without a value are absent', () => {
  const requiredMembers = {
    siteReference: 'TILL-1',
    currencyISOCode: 'ZAR',
    amount: 12_345,
    createdUTCDate: '2026-03-01T09:59:58.000Z',
    origin: 'till',
    invoiceReference: 'i-1',
    state: 'closed',
  };
  const optionalMembers = { lineItems: [{ sku: 's', unitPrice: '1' }], originReference: 'o-1' };
  expect(buildInvoice(STORED, 'closed')).toStrictEqual({ ...requiredMembers, ...optionalMembers });
  expect(buildInvoice({ ...STORED, lineItems: null, originReference: null }, 'closed')).toStrictEqual(requiredMembers);
});

test('a line item is stored with all its members', () => {
  const lineItem = { name: 'n', productCode: 'p', sku: 's', unitPrice: '007', categories: ['c'], quantity: 2 };
  expect(normaliseLineItem(lineItem)).toStrictEqual({ ...lineItem, unitPrice: '7' });
  expect(normaliseLineItem({ ...lineItem, name: null, categories: null })).not.toHaveProperty('categories');
});

const LINE_ITEM = { name: 'n', productCode: 'p', sku: 's', unitPrice: '7', categories: ['c'], quantity: 2 };
/** The fingerprint of a request whose only line item has this change. */
const fingerprintWithLineItem = (change: object): string =>
  computeInvoiceFingerprint(
    buildInvoiceRequest({ externalReference: 'e', lineItems: [{ ...LINE_ITEM, ...change }] }) as never,
  );

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
])('the change %p of a line item changes the fingerprint of the request', (change) => {
  expect(fingerprintWithLineItem(change)).not.toBe(fingerprintWithLineItem({}));
  expect(fingerprintWithLineItem(change)).toMatch(/^[0-9a-f]{64}$/);
});

test('leading zeros of a price, and null instead of an absent member, do not change the fingerprint', () => {
  expect(fingerprintWithLineItem({ unitPrice: 7 })).toBe(fingerprintWithLineItem({ unitPrice: '07' }));
  for (const member of ['name', 'productCode', 'sku', 'categories', 'quantity'])
    expect(fingerprintWithLineItem({ [member]: null })).toBe(fingerprintWithLineItem({ [member]: undefined }));
});

// The fingerprint is stored with each invoice. If a release computed another fingerprint, a till's retry would replace
// its invoice.
test('every release computes the same fingerprint for a request', () => {
  expect(fingerprintWithLineItem({})).toBe('20cb6299e967f242cd7588aa2901c6c014cdcd84a042a1f3ddf89a49ad21626d');
});
