import { readDecoded } from './read-decoded.js';

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

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['a list', []],
  ['no merchant', { invoice: INVOICE }],
  ['no invoice', { merchant: MERCHANT }],
  ['a merchant without a name', answer({}, { merchantName: undefined })],
  ['a merchant whose name is a number', answer({}, { merchantName: 7 })],
  ['a currency that is none', answer({ currencyISOCode: 'usd' })],
  ['an amount of text', answer({ amount: '100' })],
  ['a negative amount', answer({ amount: -1 })],
  ['a fraction of a cent', answer({ amount: 0.5 })],
  ['a date in another form', answer({ createdUTCDate: '1 January 2026' })],
  ['a state that is none', answer({ state: 'paid' })],
  ['an origin of 101 characters', answer({ origin: 'x'.repeat(101) })],
  ['control characters', answer({ origin: 'a\u0000b' })],
  ['a line without code', answer({ lineItems: [{ unitPrice: '1' }] })],
  ['a line without price', answer({ lineItems: [{ sku: 's' }] })],
  ['a category that is a number', answer({ lineItems: [{ sku: 's', unitPrice: '1', categories: [1] }] })],
  ['501 lines', answer({ lineItems: Array(501).fill({ sku: 's', unitPrice: '1' }) })],
  ['features of text', answer({}, { features: 'all' })],
  ['a tip of text', answer({}, { features: { tip: { enabled: 'yes' } } })],
])('%s is not passed on', (_, value) => expect(() => readDecoded(value)).toThrow(/readable|no object|no code/));
