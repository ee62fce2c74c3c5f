import { type DecodeResponse, ERROR_CATALOGUE, toLabel } from '@svc/contracts';
import fc from 'fast-check';
import { type Decoder, type Merchant, startDecoder } from '../../test/decoder.js';
import { codePath, createPartner } from '../../test/partner.js';

let decoder: Decoder;
let merchant: Merchant;
let partnerHeaders: Record<string, string>;
beforeAll(async () => {
  decoder = await startDecoder();
  merchant = await decoder.createMerchant({ name: '龍 & ‮Ünïcode‬ 💳' });
  partnerHeaders = await createPartner(decoder);
});
afterAll(() => decoder.stop());

/** Arbitrary valid text in any script. */
const text = (maxLength: number) =>
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength })
    .filter(
      (value) => value.trim() !== '' && value.length <= maxLength && !/\p{Cc}/u.test(value) && value.isWellFormed(),
    );
/** An optional member. */
const optional = <T>(member: fc.Arbitrary<T>) => fc.option(member, { nil: undefined });

const lineItem = fc
  .record({
    name: optional(text(200)),
    productCode: optional(text(100)),
    sku: optional(text(100)),
    unitPrice: fc.integer({ min: 0, max: 100_000_000_000 }),
    categories: optional(fc.array(text(100), { maxLength: 10 })),
    quantity: optional(
      fc.double({ min: -1_000_000, max: 1_000_000, noNaN: true }).filter((quantity) => quantity !== 0),
    ),
    isPriceText: fc.boolean(),
  })
  .filter(({ productCode, sku }) => productCode !== undefined || sku !== undefined)
  .map(({ isPriceText, unitPrice, ...item }) => ({ ...item, unitPrice: isPriceText ? String(unitPrice) : unitPrice }));

const invoice = fc.record({
  externalReference: optional(text(100)),
  siteReference: text(100),
  currencyISOCode: fc.constant('ZAR'),
  amount: fc.integer({ min: 1, max: 100_000_000_000 }),
  lineItems: optional(
    fc.oneof({ weight: 9, arbitrary: fc.array(lineItem, { maxLength: 8 }) }, { weight: 1, arbitrary: fc.constant([]) }),
  ),
  origin: text(100),
  createdUTCDate: fc
    .date({ min: new Date('2000-01-01T00:00:00Z'), max: new Date('2099-12-31T23:59:59Z'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  originReference: optional(text(100)),
});

/** The value as it is sent: JSON has no undefined members. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Creates the invoice and decodes its code. */
async function createAndDecode(request: Record<string, unknown>): Promise<DecodeResponse> {
  const created = await decoder.call('POST', `${merchant.path}/invoices`, {
    headers: merchant.headers,
    payload: request,
  });
  expect([created.status, created.body?.errors]).toEqual([201, undefined]);
  const { status, body } = await decoder.call('GET', codePath(created.body.code as string), {
    headers: partnerHeaders,
  });
  expect(status).toBe(200);
  return body as DecodeResponse;
}

test('a decoded invoice has the values that the till sent, with any white space in names as a space, in any script and with any optional members', async () => {
  const testedMembers = { present: new Set<string>(), absent: new Set<string>() };
  await fc.assert(
    fc.asyncProperty(invoice, async (request) => {
      const { merchant: decodedMerchant, invoice: decoded } = await createAndDecode(request);
      const { externalReference, lineItems, ...rest } = request;
      const { invoiceReference, state, ...sentMembers } = decoded;
      expect([typeof invoiceReference, state]).toEqual(['string', 'open']);
      expect(sentMembers).toEqual(
        asJson({
          ...rest,
          origin: toLabel(rest.origin),
          lineItems: lineItems?.map(({ name, categories, ...item }) => ({
            ...item,
            name: toLabel(name),
            categories: toLabel(categories),
            unitPrice: String(item.unitPrice),
          })),
        }),
      );
      expect(decodedMerchant.merchantName).toBe('龍 & ‮Ünïcode‬ 💳');
      for (const [name, value] of Object.entries({ ...request, externalReference, ...lineItems?.[0] }))
        testedMembers[value === undefined ? 'absent' : 'present'].add(name);
    }),
    { numRuns: 120, seed: 20_261_121 },
  );
  // Each optional member must have been present in a request and absent in another request.
  for (const name of [
    'externalReference',
    'lineItems',
    'originReference',
    'name',
    'productCode',
    'sku',
    'categories',
    'quantity',
  ])
    expect([name, testedMembers.present.has(name), testedMembers.absent.has(name)]).toEqual([name, true, true]);
});

test('the response to any code is a documented error, never an internal error', async () => {
  const anyParameter = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }).map((code) => Buffer.from(code).toString('base64')),
    fc.string({ unit: 'grapheme', maxLength: 60 }).map(encodeURIComponent),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
    fc
      .stringMatching(/^(https:\/\/pay\.svc\.example\/c\/)?\d{18,22}$/)
      .map((code) => Buffer.from(code).toString('base64')),
    fc.stringMatching(/^(SK|CRSTPC)(-\d{1,24}){1,6}$/).map((code) => Buffer.from(code).toString('base64')),
  );
  const documented: Record<number, object | undefined> = {
    400: { errorReference: '40', field: 'code' },
    404: { errorReference: '21' },
    422: { errorReference: '40', message: ERROR_CATALOGUE['code.unsupported'].message },
  };
  const countByStatus = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(anyParameter, async (parameter) => {
      const { status, body } = await decoder.call('GET', `/v1/codes/${parameter}`, { headers: partnerHeaders });
      countByStatus.set(status, (countByStatus.get(status) ?? 0) + 1);
      expect(body.errors).toEqual([expect.objectContaining(documented[status] ?? { status: 'not documented' })]);
    }),
    { numRuns: 400, seed: 20_261_121 },
  );
  // The generated codes must have caused each documented error often enough.
  for (const status of [400, 404, 422])
    expect([status, (countByStatus.get(status) ?? 0) >= 20]).toEqual([status, true]);
});

test('500 line items with names in four scripts are returned in order', async () => {
  const lineItems = Array.from({ length: 500 }, (_, i) => ({
    name: `${['Koffie', 'コーヒー', 'قهوة', '☕'][i % 4]} ${i}`,
    sku: `sku-${i}`,
    unitPrice: String(i),
    quantity: i % 2 === 0 ? 0.125 * (i + 1) : -1,
  }));
  const { invoice: decoded } = await createAndDecode({
    siteReference: 'TILL',
    currencyISOCode: 'ZAR',
    amount: 1,
    origin: 'o',
    createdUTCDate: '2026-03-01T10:00:00.000Z',
    lineItems,
  });
  expect(decoded.lineItems).toEqual(lineItems);
});
