import { InvalidResponseError, parseDecodeResponse } from './parse-decode-response.js';

const MERCHANT = {
  merchantReference: 'm',
  merchantName: 'Fuel',
  currencyISOCode: 'USD',
  currencySymbol: 'US$',
  features: {},
};
const INVOICE = { siteReference: 's', currencyISOCode: 'USD', amount: 100, createdUTCDate: '2026-01-01T00:00:00Z' };
/** A valid response of a provider, with these changes. */
const createResponse = (invoice: object = {}, merchant: object = {}) => ({
  merchant: { ...MERCHANT, ...merchant },
  invoice: { ...INVOICE, ...invoice },
});

test('a response with only the required members is accepted, and milliseconds are added to its date', () => {
  expect(parseDecodeResponse(createResponse())).toEqual({
    merchant: MERCHANT,
    invoice: { ...INVOICE, createdUTCDate: '2026-01-01T00:00:00.000Z' },
  });
});

test('optional members of a response are returned, and members that are null or unknown are removed', () => {
  const lineItems = [{ name: 'n', productCode: 'p', sku: 's', unitPrice: '7', categories: ['c'], quantity: 0.5 }];
  const optional = { origin: 'o', originReference: 'r', invoiceReference: 'i', orderReference: 'q', state: 'closed' };
  const features = {
    amount: { editable: true },
    orderReference: { label: 'Table', editable: false, required: true },
    tip: { enabled: true },
  };
  const { merchant, invoice } = parseDecodeResponse(
    createResponse(
      { ...optional, lineItems: [{ ...lineItems[0], unitPrice: 7, colour: 'red' }], unknownMember: 1 },
      { features: { ...features, unknownMember: {} }, unknownMember: 1 },
    ),
  );
  expect(invoice).toEqual({ ...INVOICE, createdUTCDate: '2026-01-01T00:00:00.000Z', ...optional, lineItems });
  expect(merchant).toEqual({ ...MERCHANT, features });

  const nulls = Object.fromEntries(Object.keys({ ...optional, lineItems }).map((name) => [name, null]));
  expect(
    parseDecodeResponse(
      createResponse(nulls, { features: { tip: null, amount: { editable: null } }, currencySymbol: null }),
    ),
  ).toEqual({
    merchant: { ...MERCHANT, currencySymbol: '$', features: { amount: {} } },
    invoice: { ...INVOICE, createdUTCDate: '2026-01-01T00:00:00.000Z' },
  });
});

/** The message of the error that the value causes, or 'no error'. */
const parseError = (value: unknown): string => {
  try {
    parseDecodeResponse(value);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect((error as Error).name).toBe('InvalidResponseError');
    return (error as Error).message;
  }
  return 'no error';
};
const LINE_ITEM = { sku: 's', unitPrice: '1' };
const INVALID_LABELS: readonly unknown[] = [7, '', ' ', '\t', {}];
const INVALID_TEXTS: readonly unknown[] = [...INVALID_LABELS, 'a\u0000b'];

/** Name of each required member, a function that creates a response with a value for it, and invalid values. */
const REQUIRED: readonly (readonly [string, (value: unknown) => object, readonly unknown[]])[] = [
  [
    'merchantReference',
    (value) => createResponse({}, { merchantReference: value }),
    [...INVALID_TEXTS, 'x'.repeat(101)],
  ],
  ['merchantName', (value) => createResponse({}, { merchantName: value }), [...INVALID_LABELS, 'x'.repeat(201)]],
  ['siteReference', (value) => createResponse({ siteReference: value }), [...INVALID_TEXTS, 'x'.repeat(101)]],
  ['amount', (value) => createResponse({ amount: value }), ['100', 0, -1, 0.5, 100_000_000_001]],
  [
    'createdUTCDate',
    (value) => createResponse({ createdUTCDate: value }),
    ['1 January 2026', '2026-02-30T00:00:00Z', 7],
  ],
  ['currencyISOCode', (value) => createResponse({ currencyISOCode: value }), [7, ['USD']]],
  ['currencyISOCode', (value) => createResponse({}, { currencyISOCode: value }), [7, ['USD']]],
  [
    'unitPrice',
    (value) => createResponse({ lineItems: [{ sku: 's', unitPrice: value }] }),
    ['', '-1', 0.5, '100000000001'],
  ],
];
/** Each optional member, in the same form as the required members above. */
const OPTIONAL: typeof REQUIRED = [
  ['currencySymbol', (value) => createResponse({}, { currencySymbol: value }), [...INVALID_TEXTS, 'x'.repeat(101)]],
  ['editable', (value) => createResponse({}, { features: { amount: { editable: value } } }), ['yes', 1]],
  [
    'label',
    (value) => createResponse({}, { features: { orderReference: { label: value } } }),
    [...INVALID_LABELS, 'x'.repeat(201)],
  ],
  ['editable', (value) => createResponse({}, { features: { orderReference: { editable: value } } }), ['yes', 1]],
  ['required', (value) => createResponse({}, { features: { orderReference: { required: value } } }), ['yes', 1]],
  ['enabled', (value) => createResponse({}, { features: { tip: { enabled: value } } }), ['yes', 1]],
  ['lineItems', (value) => createResponse({ lineItems: value }), ['x', {}, Array(501).fill(LINE_ITEM)]],
  ['origin', (value) => createResponse({ origin: value }), [...INVALID_LABELS, 'x'.repeat(101)]],
  ['originReference', (value) => createResponse({ originReference: value }), [...INVALID_TEXTS, 'x'.repeat(101)]],
  ['invoiceReference', (value) => createResponse({ invoiceReference: value }), [...INVALID_TEXTS, 'x'.repeat(101)]],
  ['orderReference', (value) => createResponse({ orderReference: value }), [...INVALID_TEXTS, 'x'.repeat(101)]],
  ['state', (value) => createResponse({ state: value }), ['paid', '', true]],
  [
    'productCode',
    (value) => createResponse({ lineItems: [{ ...LINE_ITEM, productCode: value }] }),
    [...INVALID_TEXTS, 'x'.repeat(101)],
  ],
  [
    'sku',
    (value) => createResponse({ lineItems: [{ ...LINE_ITEM, productCode: 'p', sku: value }] }),
    [...INVALID_TEXTS, 'x'.repeat(101)],
  ],
  [
    'name',
    (value) => createResponse({ lineItems: [{ ...LINE_ITEM, name: value }] }),
    [...INVALID_LABELS, 'x'.repeat(201)],
  ],
  ['quantity', (value) => createResponse({ lineItems: [{ ...LINE_ITEM, quantity: value }] }), [0, '1', 1_000_001]],
  [
    'categories',
    (value) => createResponse({ lineItems: [{ ...LINE_ITEM, categories: value }] }),
    ['x', [1], ['c', ''], ['x'.repeat(101)], Array(51).fill('c')],
  ],
];

test('control characters in texts that are only shown become spaces', () => {
  const response = createResponse(
    { origin: 'a\u0000b', lineItems: [{ ...LINE_ITEM, name: 'a\tb', categories: ['a\nb'] }] },
    { merchantName: 'a\tb', features: { orderReference: { label: 'a\tb' } } },
  );
  expect(parseDecodeResponse(response)).toMatchObject({
    merchant: { merchantName: 'a b', features: { orderReference: { label: 'a b' } } },
    invoice: { origin: 'a b', lineItems: [{ name: 'a b', categories: ['a b'] }] },
  });
});

test.each(REQUIRED)(
  'the member %s is required, and the error for an invalid value contains its name',
  (name, createWith, values) => {
    for (const value of [undefined, null, ...values])
      expect(parseError(createWith(value))).toBe(`${name} is not valid.`);
  },
);

test.each(OPTIONAL)(
  'the member %s may be absent or null, and the error for an invalid value contains its name',
  (name, createWith, values) => {
    for (const value of [undefined, null]) expect(parseError(createWith(value))).toBe('no error');
    for (const value of values) expect(parseError(createWith(value))).toBe(`${name} is not valid.`);
  },
);

test.each<[string, unknown, string]>([
  ['no body', undefined, 'response is not an object.'],
  ['text instead of an object', 'text', 'response is not an object.'],
  ['a list instead of an object', [], 'response is not an object.'],
  ['no merchant', { invoice: INVOICE }, 'merchant is not an object.'],
  ['null for a merchant', { invoice: INVOICE, merchant: null }, 'merchant is not an object.'],
  ['no invoice', { merchant: MERCHANT }, 'invoice is not an object.'],
  ['a currency in lower case', createResponse({ currencyISOCode: 'usd' }), 'invoice.currencyISOCode is not valid.'],
  ['a currency of four letters', createResponse({ currencyISOCode: 'USDX' }), 'invoice.currencyISOCode is not valid.'],
  [
    'a currency with a blank',
    createResponse({}, { currencyISOCode: ' USD' }),
    'merchant.currencyISOCode is not valid.',
  ],
  [
    'a line item without product code and sku',
    createResponse({ lineItems: [{ unitPrice: '1' }] }),
    'A line item has no code.',
  ],
  ['a line item that is text', createResponse({ lineItems: ['x'] }), 'lineItems is not an object.'],
  ['features that are text', createResponse({}, { features: 'all' }), 'features is not an object.'],
  [
    'a feature "amount" that is text',
    createResponse({}, { features: { amount: 'yes' } }),
    'features.amount is not an object.',
  ],
  ['a feature "tip" that is text', createResponse({}, { features: { tip: 'yes' } }), 'features.tip is not an object.'],
  [
    'a feature "orderReference" that is a list',
    createResponse({}, { features: { orderReference: [] } }),
    'features.orderReference is not an object.',
  ],
])('a response with %s (%j) is rejected with the error: %s', (_, value, problem) =>
  expect(parseError(value)).toBe(problem),
);

test('values of maximum length are accepted, and leading zeros of a price are removed', () => {
  const name = 'x'.repeat(200);
  const lineItems = Array(500).fill({ ...LINE_ITEM, name, categories: Array(50).fill('x'.repeat(100)) });
  const { invoice, merchant } = parseDecodeResponse(
    createResponse({ lineItems, state: 'open' }, { merchantName: name }),
  );
  expect(invoice.lineItems).toEqual(lineItems);
  expect(invoice.state).toBe('open');
  expect(merchant.merchantName).toBe(name);
  expect(
    parseDecodeResponse(createResponse({ lineItems: [{ productCode: 'p', unitPrice: '007' }] })).invoice.lineItems,
  ).toStrictEqual([{ productCode: 'p', unitPrice: '7' }]);
});
