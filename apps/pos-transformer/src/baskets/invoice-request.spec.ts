import { buildInvoiceRequest, chooseExternalReference, renewInvoiceRequest } from './invoice-request.js';

const line = { id: 7, name: 'Apples', productCode: 'AP', price: 129, quantity: 0.543, lineTotal: 70 };
const invoice = {
  externalReference: '17#ab',
  idempotencyKey: 'key-1',
  siteReference: 'STORE-1',
  amountCents: 70,
  lines: [line],
  createdUTCDate: '2026-03-01T10:00:00.000Z',
};

test('D6: buildInvoiceRequest converts a basket to a request for an invoice', () => {
  expect(buildInvoiceRequest(invoice)).toEqual({
    externalReference: '17#ab',
    siteReference: 'STORE-1',
    currencyISOCode: 'ZAR',
    amount: 70,
    lineItems: [{ name: 'Apples', productCode: 'AP', unitPrice: '129', quantity: 0.543 }],
    origin: 'pos-transformer',
    createdUTCDate: '2026-03-01T10:00:00.000Z',
    originReference: 'key-1',
  });
});

test('D6: the request for a new invoice has another body, even at the same time', () => {
  const request = buildInvoiceRequest(invoice);
  const renewed = renewInvoiceRequest(request, { idempotencyKey: 'key-2', createdUTCDate: request.createdUTCDate });
  expect(renewed).toEqual({ ...request, originReference: 'key-2' });
});

test('a request omits an empty list of line items', () => {
  expect(buildInvoiceRequest({ ...invoice, lines: [] })).not.toHaveProperty('lineItems');
});

test.each(['', ' '])(
  'a line whose name and product code are %j has no name, and its number as product code',
  (blank) => {
    const request = buildInvoiceRequest({ ...invoice, lines: [{ ...line, name: blank, productCode: blank }] });
    expect(request.lineItems).toEqual([{ productCode: 'line-7', unitPrice: '129', quantity: 0.543 }]);
  },
);

test('T5: the external reference is the till’s reference, with a suffix if another basket uses it', () => {
  const token = 'abcdefghijklmnopqrstuv';
  expect(chooseExternalReference('0017', token, false)).toBe('0017');
  expect(chooseExternalReference('0017', token, true)).toBe('0017#abcdefghij');
  const longest = chooseExternalReference('x'.repeat(100), token, true);
  expect([longest.length, longest.endsWith('#abcdefghij')]).toEqual([100, true]);
});
