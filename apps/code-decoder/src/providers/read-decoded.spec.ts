import { readDecoded, UnreadableAnswer } from './read-decoded.js';

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

test('what is required is enough; the date gets its milliseconds', () => {
  expect(readDecoded(answer())).toEqual({
    merchant: MERCHANT,
    invoice: { ...INVOICE, createdUTCDate: '2026-01-01T00:00:00.000Z' },
  });
});

test('everything optional is kept, null is absent, what nobody knows is gone', () => {
  const lineItems = [{ name: 'n', productCode: 'p', sku: 's', unitPrice: '7', categories: ['c'], quantity: 0.5 }];
  const optional = { origin: 'o', originReference: 'r', invoiceReference: 'i', orderReference: 'q', state: 'closed' };
  const features = {
    amount: { editable: true },
    orderReference: { label: 'Table', editable: false, required: true },
    tip: { enabled: true },
  };
  const { merchant, invoice } = readDecoded(
    answer(
      { ...optional, lineItems: [{ ...lineItems[0], unitPrice: 7, colour: 'red' }], evil: 1 },
      { features: { ...features, evil: {} }, evil: 1 },
    ),
  );
  expect(invoice).toEqual({ ...INVOICE, createdUTCDate: '2026-01-01T00:00:00.000Z', ...optional, lineItems });
  expect(merchant).toEqual({ ...MERCHANT, features });

  const nulls = Object.fromEntries(Object.keys({ ...optional, lineItems }).map((name) => [name, null]));
  expect(
    readDecoded(answer(nulls, { features: { tip: null, amount: { editable: null } }, currencySymbol: null })),
  ).toEqual({
    merchant: { ...MERCHANT, currencySymbol: '$', features: { amount: {} } },
    invoice: { ...INVOICE, createdUTCDate: '2026-01-01T00:00:00.000Z' },
  });
});

const problemOf = (value: unknown): string => {
  try {
    readDecoded(value);
  } catch (error) {
    expect(error).toBeInstanceOf(UnreadableAnswer);
    expect((error as Error).name).toBe('UnreadableAnswer');
    return (error as Error).message;
  }
  return 'nothing';
};
const LINE = { sku: 's', unitPrice: '1' };
const NO_TEXT: readonly unknown[] = [7, '', ' ', 'a\u0000b', {}];

/** Members of the answer, and what they may not be. The problem names the member. */
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

test.each(REQUIRED)('%s is required, and named where it is not readable', (name, of, values) => {
  for (const value of [undefined, null, ...values]) expect(problemOf(of(value))).toBe(`${name} is not readable.`);
});

test.each(OPTIONAL)('%s may be absent or null, and is named where it is not readable', (name, of, values) => {
  for (const value of [undefined, null]) expect(problemOf(of(value))).toBe('nothing');
  for (const value of values) expect(problemOf(of(value))).toBe(`${name} is not readable.`);
});

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'answer is no object.'],
  ['a text', 'text', 'answer is no object.'],
  ['a list', [], 'answer is no object.'],
  ['no merchant', { invoice: INVOICE }, 'merchant is no object.'],
  ['null for a merchant', { invoice: INVOICE, merchant: null }, 'merchant is no object.'],
  ['no invoice', { merchant: MERCHANT }, 'invoice is no object.'],
  ['a currency in small letters', answer({ currencyISOCode: 'usd' }), 'invoice.currencyISOCode is not readable.'],
  ['a currency of four letters', answer({ currencyISOCode: 'USDX' }), 'invoice.currencyISOCode is not readable.'],
  ['a currency with a blank', answer({}, { currencyISOCode: ' USD' }), 'merchant.currencyISOCode is not readable.'],
  ['a line without code', answer({ lineItems: [{ unitPrice: '1' }] }), 'A line item has no code.'],
  ['a line of text', answer({ lineItems: ['x'] }), 'lineItems is no object.'],
  ['features of text', answer({}, { features: 'all' }), 'features is no object.'],
  ['amount of text', answer({}, { features: { amount: 'yes' } }), 'features.amount is no object.'],
  ['a tip of text', answer({}, { features: { tip: 'yes' } }), 'features.tip is no object.'],
  [
    'an orderReference that is a list',
    answer({}, { features: { orderReference: [] } }),
    'features.orderReference is no object.',
  ],
])('%s is not passed on', (_, value, problem) => expect(problemOf(value)).toBe(problem));

test('what is as long as may be is passed on', () => {
  const name = 'x'.repeat(200);
  const lineItems = Array(500).fill({ ...LINE, name, categories: Array(50).fill('x'.repeat(100)) });
  const { invoice, merchant } = readDecoded(answer({ lineItems, state: 'open' }, { merchantName: name }));
  expect(invoice.lineItems).toEqual(lineItems);
  expect(invoice.state).toBe('open');
  expect(merchant.merchantName).toBe(name);
  expect(readDecoded(answer({ lineItems: [{ productCode: 'p', unitPrice: '007' }] })).invoice.lineItems).toStrictEqual([
    { productCode: 'p', unitPrice: '7' },
  ]);
});
