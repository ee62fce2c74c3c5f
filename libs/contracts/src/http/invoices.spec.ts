import {
  amount,
  type Bounds,
  describeBounds,
  label,
  nestedList,
  optional,
  text,
  validationErrors,
} from '../../test/bounds.js';
import { CreateInvoiceRequest, isUtcDate, LineItemRequest } from './invoices.js';

const ITEM = { productCode: 'p', unitPrice: '100' };
const INVOICE = {
  siteReference: 'TILL-1',
  currencyISOCode: 'ZAR',
  amount: 12_345,
  origin: 'till',
  createdUTCDate: '2026-11-20T18:03:36Z',
};
const unitPrice: Bounds = {
  accepted: ['0', '1', '100000000000', '000000000001', 0, 1, 100_000_000_000],
  rejected: [
    ...[undefined, null, '', '-1', '1.5', ' 1', '1 ', '1e3', '100000000001', '0000000000001', '1\n', 'x1', '1x'],
    ...[-1, 1.5, 100_000_000_001, true, ['1'], {}],
  ],
};
const quantity: Bounds = {
  accepted: [1, 0.5, -1, 1_000_000, -1_000_000],
  rejected: [undefined, null, 0, -0, 1_000_000.5, -1_000_001, Number.NaN, Number.POSITIVE_INFINITY, '1', true],
};
const createdUTCDate: Bounds = {
  accepted: [
    '2000-01-01T00:00:00Z',
    '2026-11-20T18:03:36.1Z',
    '2026-11-20T18:03:36.12Z',
    '2026-11-20T18:03:36.123Z',
    '2028-02-29T23:59:59Z',
    '2099-12-31T23:59:59.999Z',
  ],
  rejected: [
    ...[undefined, null, '', 7, new Date(0), '1999-12-31T23:59:59Z', '2100-01-01T00:00:00Z', '2026-11-20'],
    ...['2026-02-29T00:00:00Z', '2026-02-31T00:00:00Z', '2026-13-01T00:00:00Z', '2026-11-20T24:00:00Z'],
    ...['2026-11-20T23:60:00Z', '2026-11-20T23:59:60Z', '2026-11-20T18:03:36', '2026-11-20T18:03:36+00:00'],
    ...['2026-11-20T18:03:36.1234Z', '2026-11-20T18:03:36.Z', 'x2026-11-20T18:03:36Z', '2026-11-20T18:03:36Zx'],
    // JavaScript parses these texts: a year of six digits, and a date with a null character at its end.
    ...['+012026-11-20T18:03:36Z', '2026-11-20T18:03:36Z\u0000'],
  ],
};

// Each field must accept the values at its limits, and reject the values just beyond them.
describeBounds(LineItemRequest, ITEM, {
  name: optional(label(200)),
  productCode: text(100),
  sku: optional(text(100)),
  unitPrice,
  categories: optional({
    accepted: [[], Array<string>(10).fill('x'), ['x'.repeat(100)]],
    rejected: ['x', {}, Array<string>(11).fill('x'), ['x'.repeat(101)], [''], [7], [null]],
  }),
  quantity: optional(quantity),
});
describeBounds(CreateInvoiceRequest, INVOICE, {
  externalReference: optional(text(100)),
  siteReference: text(100),
  currencyISOCode: { accepted: ['ZAR'], rejected: [undefined, null, 'zar', 'USD'] },
  amount,
  lineItems: optional(nestedList(500, ITEM, { productCode: 'p' })),
  origin: label(100),
  createdUTCDate,
  originReference: optional(text(100)),
});

describe('an item must have a productCode, a sku or both', () => {
  it.each([
    [{ productCode: 'p' }, []],
    [{ sku: 's' }, []],
    [{ productCode: 'p', sku: 's' }, []],
    [{ productCode: null, sku: 's' }, []],
    [{ productCode: 'p', sku: null }, []],
    [{}, ['productCode']],
    [{ productCode: null, sku: null }, ['productCode']],
    [{ productCode: '', sku: 's' }, ['productCode']],
    [{ productCode: 'p', sku: '' }, ['sku']],
  ])('an item with %j has errors for the fields %j', (codes, fields) => {
    expect(Object.keys(validationErrors(LineItemRequest, { unitPrice: 1, ...codes }))).toEqual(fields);
  });
});

test('each error message names the field and its limit', () => {
  expect(validationErrors(LineItemRequest, { unitPrice: -1, quantity: 0 })).toEqual({
    productCode: { isText: 'productCode must be text of 1 to 100 characters; an item has a productCode or a sku' },
    unitPrice: { isUnitPrice: 'unitPrice must be whole cents from 0 to 100000000000' },
    quantity: { isQuantity: 'quantity must be a number from -1000000 to 1000000, and not 0' },
  });
  expect(validationErrors(CreateInvoiceRequest, { ...INVOICE, createdUTCDate: 'today' })).toEqual({
    createdUTCDate: { isUtcDate: 'createdUTCDate must be a date like 2026-11-20T18:03:36.123Z' },
  });
});

test('a date must be a string', () => {
  expect(isUtcDate('2026-11-20T18:03:36Z')).toBe(true);
  // The object cannot be converted to text.
  for (const value of [['2026-11-20T18:03:36Z'], { toString: 1 }]) expect(isUtcDate(value)).toBe(false);
});
