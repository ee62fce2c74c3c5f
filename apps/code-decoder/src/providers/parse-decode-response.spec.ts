import { InvalidResponseError, parseDecodeResponse } from './parse-decode-response.js';

const MERCHANT = {
  merchantReference: 'm',
  merchantName: 'Fuel',
  currencyISOCode: 'USD',
  currencySymbol: 'US$',
  features: {},
};
const INVOICE = { siteReference: 's', currencyISOCode: 'USD', amount: 100, createdUTCDate: '2026-01-01T00:00:00Z' };
const answer = (invoice: object = {}, merchant: object = {}) => ({
  merchant: { ...MERCHANT, ...merchant },
  invoice: { ...INVOICE, ...invoice },
});

test('a response with only the required members is accepted, and its date gets milliseconds', () => {
  expect(parseDecodeResponse(answer())).toEqual({
    merchant: MERCHANT,
    invoice: { ...INVOICE, createdUTCDate: '2026-01-01T00:00:00.000Z' },
  });
});

test('a response keeps optional members, and loses null and unknown members', () => {
  const lineItems = [{ name: 'n', productCode: 'p', sku: 's', unitPrice: '7', categories: ['c'], quantity: 0.5 }];
  const optional = { origin: 'o', originReference: 'r', invoiceReference: 'i', orderReference: 'q', state: 'closed' };
  const features = {
    amount: { editable: true },
    orderReference: { label: 'Table', editable: false, required: true },
    tip: { enabled: true },
  };
  const { merchant, invoice } = parseDecodeResponse(
    answer(
      { ...optional, lineItems: [{ ...lineItems[0], unitPrice: 7, colour: 'red' }], evil: 1 },
      { features: { ...features, evil: {} }, evil: 1 },
    ),
  );
  expect(invoice).toEqual({ ...INVOICE, createdUTCDate: '2026-01-01T00:00:00.000Z', ...optional, lineItems });
  expect(merchant).toEqual({ ...MERCHANT, features });

  const nulls = Object.fromEntries(Object.keys({ ...optional, lineItems }).map((name) => [name, null]));
  expect(
    parseDecodeResponse(answer(nulls, { features: { tip: null, amount: { editable: null } }, currencySymbol: null })),
  ).toEqual({
    merchant: { ...MERCHANT, currencySymbol: '$', features: { amount: {} } },
    invoice: { ...INVOICE, createdUTCDate: '2026-01-01T00:00:00.000Z' },
  });
});

const problemOf = (value: unknown): string => {
  try {
    parseDecodeResponse(value);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect((error as Error).name).toBe('InvalidResponseError');
    return (error as Error).message;
  }
  return 'nothing';
};
const LINE = { sku: 's', unitPrice: '1' };
const NO_TEXT: readonly unknown[] = [7, '', ' ', 'a\u0000b', {}];

/** Members of the response with invalid values. The error message names the member. */
const REQUIRED: readonly (readonly [string, (value: unknown) => object, readonly unknown[]])[] = [
  ['merchantReference', (value) => answer({}, { merchantReference: value }), [...NO_TEXT, 'x'.repeat(101)]],
  ['merchantName', (value) => answer({}, { merchantName: value }), [...NO_TEXT, 'x'.repeat(201)]],
  ['siteReference', (value) => answer({ siteReference: value }), [...NO_TEXT, 'x'.repeat(101)]],
  ['amount', (value) => answer({ amount: value }), ['100', 0, -1, 0.5, 100_000_000_001]],
  ['createdUTCDate', (value) => answer({ createdUTCDate: value }), ['1 January 2026', '2026-02-30T00:00:00Z', 7]],
  ['currencyISOCode', (value) => answer({ currencyISOCode: value }), [7, ['USD']]],
  ['currencyISOCode', (value) => answer({}, { currencyISOCode: value }), [7, ['USD']]],
  ['unitPrice', (value) => answer({ lineItems: [{ sku: 's', unitPrice: value }] }), ['', '-1', 0.5, '100000000001']],
];
const OPTIONAL: typeof REQUIRED = [
  ['currencySymbol', (value) => answer({}, { currencySymbol: value }), [...NO_TEXT, 'x'.repeat(101)]],
  ['editable', (value) => answer({}, { features: { amount: { editable: value } } }), ['yes', 1]],
  ['label', (value) => answer({}, { features: { orderReference: { label: value } } }), [...NO_TEXT, 'x'.repeat(201)]],
  ['editable', (value) => answer({}, { features: { orderReference: { editable: value } } }), ['yes', 1]],
  ['required', (value) => answer({}, { features: { orderReference: { required: value } } }), ['yes', 1]],
  ['enabled', (value) => answer({}, { features: { tip: { enabled: value } } }), ['yes', 1]],
  ['lineItems', (value) => answer({ lineItems: value }), ['x', {}, Array(501).fill(LINE)]],
  ['origin', (value) => answer({ origin: value }), [...NO_TEXT, 'x'.repeat(101)]],
  ['originReference', (value) => answer({ originReference: value }), [...NO_TEXT, 'x'.repeat(101)]],
  ['invoiceReference', (value) => answer({ invoiceReference: value }), [...NO_TEXT, 'x'.repeat(101)]],
  ['orderReference', (value) => answer({ orderReference: value }), [...NO_TEXT, 'x'.repeat(101)]],
  ['state', (value) => answer({ state: value }), ['paid', '', true]],
  ['productCode', (value) => answer({ lineItems: [{ ...LINE, productCode: value }] }), [...NO_TEXT, 'x'.repeat(101)]],
  ['sku', (value) => answer({ lineItems: [{ ...LINE, productCode: 'p', sku: value }] }), [...NO_TEXT, 'x'.repeat(101)]],
  ['name', (value) => answer({ lineItems: [{ ...LINE, name: value }] }), [...NO_TEXT, 'x'.repeat(201)]],
  ['quantity', (value) => answer({ lineItems: [{ ...LINE, quantity: value }] }), [0, '1', 1_000_001]],
  [
    'categories',
    (value) => answer({ lineItems: [{ ...LINE, categories: value }] }),
    ['x', [1], ['c', ''], ['x'.repeat(101)], Array(51).fill('c')],
  ],
];

test.each(REQUIRED)('%s is required, and the error names it', (name, of, values) => {
  for (const value of [undefined, null, ...values]) expect(problemOf(of(value))).toBe(`${name} is not valid.`);
});

test.each(OPTIONAL)('%s may be absent or null, and the error names an invalid value', (name, of, values) => {
  for (const value of [undefined, null]) expect(problemOf(of(value))).toBe('nothing');
  for (const value of values) expect(problemOf(of(value))).toBe(`${name} is not valid.`);
});

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'answer is not an object.'],
  ['a text', 'text', 'answer is not an object.'],
  ['a list', [], 'answer is not an object.'],
  ['no merchant', { invoice: INVOICE }, 'merchant is not an object.'],
  ['null for a merchant', { invoice: INVOICE, merchant: null }, 'merchant is not an object.'],
  ['no invoice', { merchant: MERCHANT }, 'invoice is not an object.'],
  ['a currency in small letters', answer({ currencyISOCode: 'usd' }), 'invoice.currencyISOCode is not valid.'],
  ['a currency of four letters', answer({ currencyISOCode: 'USDX' }), 'invoice.currencyISOCode is not valid.'],
  ['a currency with a blank', answer({}, { currencyISOCode: ' USD' }), 'merchant.currencyISOCode is not valid.'],
  ['a line without code', answer({ lineItems: [{ unitPrice: '1' }] }), 'A line item has no code.'],
  ['a line of text', answer({ lineItems: ['x'] }), 'lineItems is not an object.'],
  ['features of text', answer({}, { features: 'all' }), 'features is not an object.'],
  ['amount of text', answer({}, { features: { amount: 'yes' } }), 'features.amount is not an object.'],
  ['a tip of text', answer({}, { features: { tip: 'yes' } }), 'features.tip is not an object.'],
  [
    'an orderReference that is a list',
    answer({}, { features: { orderReference: [] } }),
    'features.orderReference is not an object.',
  ],
])('a response with %s is rejected', (_, value, problem) => expect(problemOf(value)).toBe(problem));

test('values of maximum length are accepted', () => {
  const name = 'x'.repeat(200);
  const lineItems = Array(500).fill({ ...LINE, name, categories: Array(50).fill('x'.repeat(100)) });
  const { invoice, merchant } = parseDecodeResponse(answer({ lineItems, state: 'open' }, { merchantName: name }));
  expect(invoice.lineItems).toEqual(lineItems);
  expect(invoice.state).toBe('open');
  expect(merchant.merchantName).toBe(name);
  expect(
    parseDecodeResponse(answer({ lineItems: [{ productCode: 'p', unitPrice: '007' }] })).invoice.lineItems,
  ).toStrictEqual([{ productCode: 'p', unitPrice: '7' }]);
});
