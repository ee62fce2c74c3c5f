import { type DecodeResponse, ERROR_CATALOGUE, MerchantChangedV1, type MerchantFeatures } from '@svc/contracts';
import { serveCodeProvider } from '@svc/simulated-acquirer';
import { anEvent } from '@svc/testing';
import { fastify, type FastifyInstance } from 'fastify';
import { CODES_URL, type Decoder, type Merchant, startDecoder } from '../../test/decoder.js';
import { codePath, createPartner } from '../../test/partner.js';

let decoder: Decoder;
let provider: FastifyInstance;
let merchant: Merchant;
let partnerHeaders: Record<string, string>;
beforeAll(async () => {
  provider = fastify({ forceCloseConnections: true });
  serveCodeProvider(provider);
  const settings = {
    name: 'simulated',
    mode: 'test',
    baseUrl: `${await provider.listen({ host: '127.0.0.1', port: 0 })}/code-provider`,
    apiKey: 'simulated-code-provider',
    timeoutMs: 1_000,
    hosts: ['pay.simulated-provider.example/'],
    shortLinks: ['.simpay.example'],
    verifiesUnknown: true,
  };
  decoder = await startDecoder({
    SVC_CODE_PROVIDERS: JSON.stringify([settings]),
    SVC_CODE_SHORT_FRAGMENTS: '.svc.example/s',
  });
});
beforeEach(async () => {
  merchant = await decoder.createMerchant();
  partnerHeaders = await createPartner(decoder);
});
afterAll(async () => {
  await decoder.stop();
  await provider.close();
});

const decode = (code: string, headers = partnerHeaders) => decoder.call('GET', codePath(code), { headers });
const lastTwentyDigits = (code: string): string => code.slice(-20);
const publishFeatures = (features: MerchantFeatures, version: number) =>
  decoder.deliver(
    anEvent(MerchantChangedV1, String(merchant.merchantId), version, {
      merchantId: merchant.merchantId,
      name: 'Karoo Books & Co',
      features,
      minimumAmount: 500,
      maximumAmount: 500_000,
      grants: [],
      timeZones: [{ zone: 'Africa/Johannesburg' }],
      fees: {},
    }),
  );

/** The members of each object in the tables of the specification: name, type, and whether the member is required. */
const TABLES: Record<'merchant' | 'invoice' | 'lineItem', readonly (readonly [string, string, boolean])[]> = {
  merchant: [
    ['merchantReference', 'string', true],
    ['merchantName', 'string', true],
    ['currencyISOCode', 'string', true],
    ['currencySymbol', 'string', true],
    ['features', 'object', true],
  ],
  invoice: [
    ['siteReference', 'string', true],
    ['currencyISOCode', 'string', true],
    ['amount', 'number', true],
    ['lineItems', 'object', false],
    ['createdUTCDate', 'string', true],
    ['origin', 'string', false],
    ['originReference', 'string', false],
    ['invoiceReference', 'string', false],
    ['orderReference', 'string', false],
    ['state', 'string', false],
  ],
  lineItem: [
    ['name', 'string', false],
    ['productCode', 'string', false],
    ['sku', 'string', false],
    ['unitPrice', 'string', true],
    ['categories', 'object', false],
    ['quantity', 'number', false],
  ],
};

/** Checks that the value has the required members of the table, with their types, and no members that are not in it. */
function expectMembersOfTable(name: keyof typeof TABLES, value: object): void {
  for (const [member, type, isRequired] of TABLES[name]) {
    const found = (value as Record<string, unknown>)[member];
    if (isRequired || member in value) expect([member, typeof found, found]).toEqual([member, type, expect.anything()]);
  }
  const expectedMembers = TABLES[name].map(([member]) => member);
  expect(Object.keys(value).filter((member) => !expectedMembers.includes(member))).toEqual([]);
}

test('a new code can be decoded immediately, into exactly the members that the specification defines', async () => {
  await publishFeatures({ tip: { enabled: true }, orderReference: { label: 'Table', required: true } }, 2);
  const { reference, code } = await decoder.createInvoice(merchant, {
    lineItems: [
      { name: 'Flat white', productCode: 'FW', sku: 'S-1', unitPrice: 4500, categories: ['Coffee'], quantity: 2 },
      { sku: 'S-2', unitPrice: '0' },
    ],
    originReference: 'o-1',
  });
  const { status, body, headers } = await decode(code);
  expect(status).toBe(200);
  expect(headers['cache-control']).toBe('no-store');
  const { merchant: decodedMerchant, invoice } = body as DecodeResponse;
  expect(Object.keys(body as object)).toEqual(['merchant', 'invoice']);
  expectMembersOfTable('merchant', decodedMerchant);
  expectMembersOfTable('invoice', invoice);
  for (const item of invoice.lineItems!) expectMembersOfTable('lineItem', item);
  expect(decodedMerchant).toEqual({
    merchantReference: String(merchant.merchantId),
    merchantName: 'Karoo Books & Co',
    currencyISOCode: 'ZAR',
    currencySymbol: 'R',
    features: { tip: { enabled: true }, orderReference: { label: 'Table', required: true } },
  });
  expect(invoice).toMatchObject({ invoiceReference: reference, amount: 12345, state: 'open', originReference: 'o-1' });
  expect(invoice.createdUTCDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('optional members of an invoice and features of a merchant are absent if not set', async () => {
  const { code } = await decoder.createInvoice(merchant, { externalReference: undefined });
  const { merchant: decodedMerchant, invoice } = (await decode(code)).body as DecodeResponse;
  expectMembersOfTable('invoice', invoice);
  expect(Object.keys(invoice).toSorted()).toEqual(
    ['amount', 'createdUTCDate', 'currencyISOCode', 'invoiceReference', 'origin', 'siteReference', 'state'].toSorted(),
  );
  expect([decodedMerchant.merchantName, decodedMerchant.features]).toEqual(['Karoo Books', {}]);
});

test('an event of a merchant with an older version changes nothing', async () => {
  const { code } = await decoder.createInvoice(merchant);
  await publishFeatures({ amount: { editable: true } }, 3);
  await publishFeatures({}, 2);
  expect((await decode(code)).body.merchant.features).toEqual({ amount: { editable: true } });
});

test('a code is found in every encoding and spelling of its text', async () => {
  const { reference, code } = await decoder.createInvoice(merchant);
  // The base64 of this text contains slashes.
  const codeWithSlashes = `${code}?${'?'.repeat(6)}ÿ>`;
  for (const path of [
    codePath(code),
    codePath(code, 'base64url'),
    codePath(code).replace(/=+$/, ''),
    codePath(` ${code}\n`),
    codePath(lastTwentyDigits(code)),
    codePath(code.toUpperCase()),
    codePath(codeWithSlashes),
    `/v1/codes/${encodeURIComponent(Buffer.from(codeWithSlashes).toString('base64'))}`,
  ]) {
    const { status, body } = await decoder.call('GET', path, { headers: partnerHeaders });
    expect([path, status, body?.invoice?.invoiceReference]).toEqual([path, 200, reference]);
  }
  expect(codePath(codeWithSlashes).slice('/v1/codes/'.length)).toContain('/');
});

test('a decoded invoice is open during a payment and closed after the payment, and an expired invoice causes a 410', async () => {
  const { code, reference } = await decoder.createInvoice(merchant, { externalReference: 'basket-1' });
  await decoder.publishPayable(decoder.payables.set(reference, 'reserved'));
  decoder.clock.advance(3_600_001);
  // The token of the partner has expired too.
  partnerHeaders = await createPartner(decoder);
  // The invoice is past its expiry, but stays open because a payment is in progress.
  expect((await decode(code)).body.invoice.state).toBe('open');
  await decoder.publishPayable(decoder.payables.set(reference, 'paid'));
  expect((await decode(code)).body.invoice.state).toBe('closed');

  const unpaid = await decoder.createInvoice(merchant);
  decoder.clock.advance(3_600_001);
  partnerHeaders = await createPartner(decoder);
  const expired = await decode(unpaid.code);
  expect([expired.status, expired.body.errors[0].errorReference]).toEqual([410, '20']);
});

test('a replaced invoice is decoded as closed, and its replacement as open', async () => {
  const replaced = await decoder.createInvoice(merchant, { externalReference: 'basket' });
  const replacement = await decoder.createInvoice(merchant, { externalReference: 'basket', amount: 1 });
  expect((await decode(replaced.code)).body.invoice).toMatchObject({ state: 'closed', amount: 12345 });
  expect((await decode(replacement.code)).body.invoice).toMatchObject({ state: 'open', amount: 1 });
});

test('a static code is decoded to the newest open invoice of its till, and causes a 404 if no invoice is open', async () => {
  const { body } = await decoder.call('PUT', `${merchant.path}/tills/TILL-9/code`, { headers: merchant.headers });
  const tillCode = body.code as string;
  const decodeAmountOrStatus = async () => {
    const response = await decode(tillCode);
    return response.status === 200 ? (response.body.invoice.amount as number) : response.status;
  };
  expect(await decodeAmountOrStatus()).toBe(404);

  const first = await decoder.createInvoice(merchant, { siteReference: 'TILL-9', amount: 1 });
  await decoder.createInvoice(merchant, { siteReference: 'TILL-8', amount: 9 });
  expect(await decodeAmountOrStatus()).toBe(1);
  decoder.clock.advance(1_000);
  const second = await decoder.createInvoice(merchant, { siteReference: 'TILL-9', amount: 2 });
  expect(await decodeAmountOrStatus()).toBe(2);
  await decoder.publishPayable(decoder.payables.set(second.reference, 'paid'));
  expect(await decodeAmountOrStatus()).toBe(1);
  decoder.clock.advance(3_600_000);
  partnerHeaders = await createPartner(decoder);
  expect(await decodeAmountOrStatus()).toBe(404);
  expect((await decode(first.code)).status).toBe(410);
});

test.each([
  ['an address of this platform with the code of no invoice', `${CODES_URL}/c/00000000000000000000`],
  ['an address of this platform with an invalid code', `${CODES_URL}/c/hello`],
  ['a short link of this platform', 'https://go/7.svc.example/s'],
  ['a text of twenty digits', '00000000000000000000'],
  ['a text of the form 2/4/20 characters', 'ab/cdef/12345678901234567890'],
  ['a text of the form SK-…', 'SK-1-12345678901234567890123'],
  ['a text of the form CRSTPC-…', 'CRSTPC-1-2-3-4-5'],
  ['a code with the host of a provider that does not know it', 'https://pay.simulated-provider.example/nothing'],
  ['a short link of a provider that does not know it', '12.simpay.example'],
])('%s has a supported format but no invoice, and causes a 404', async (_, code) => {
  const { status, body } = await decode(code);
  expect([status, body.errors[0].errorReference]).toEqual([404, '21']);
});

test.each(['hello', 'https://shop.example/x', 'SIMPAY:none', '1'.repeat(19), 'x'.repeat(1_500)])(
  'the code %s causes a 422, because it has no supported format and no provider knows it',
  async (code) => expect((await decode(code)).status).toBe(422),
);

test('codes of a third-party provider are decoded, even in a format that only the provider recognises', async () => {
  const open = await decode('https://pay.simulated-provider.example/25000');
  expect(open.status).toBe(200);
  expectMembersOfTable('merchant', open.body.merchant as object);
  expectMembersOfTable('invoice', open.body.invoice as object);
  expect(open.body.invoice).toMatchObject({ amount: 25000, state: 'open', origin: 'simulated' });
  expect((await decode('https://pay.simulated-provider.example/closed-70')).body.invoice.state).toBe('closed');
  expect((await decode('SIMPAY:125')).body.invoice.amount).toBe(125);
  expect((await decode('https://pay.simulated-provider.example/expired')).status).toBe(410);
});

test.each(['silent', 'broken'])(
  'a code of a provider that is %s causes a 503 with Retry-After, while codes of this platform are still decoded',
  async (failure) => {
    const { code } = await decoder.createInvoice(merchant);
    const [providerResponse, ownResponse] = await Promise.all([
      decode(`https://pay.simulated-provider.example/${failure}`),
      decode(code),
    ]);
    expect([providerResponse.status, providerResponse.headers['retry-after']]).toEqual([503, '2']);
    expect(ownResponse.status).toBe(200);
  },
);

test('a partner with a live key gets only live invoices, and no provider of test mode is queried', async () => {
  const { code } = await decoder.createInvoice(merchant);
  const livePartner = await createPartner(decoder, 'live');
  expect((await decode(code, livePartner)).status).toBe(404);
  expect((await decode('https://pay.simulated-provider.example/100', livePartner)).status).toBe(422);

  merchant = await decoder.createMerchant({ mode: 'live', merchantId: merchant.merchantId });
  const liveInvoice = await decoder.createInvoice(merchant);
  expect((await decode(liveInvoice.code, livePartner)).status).toBe(200);
  expect((await decode(liveInvoice.code)).status).toBe(404);
});

test('an unauthenticated caller gets a 401, even for an invalid code', async () => {
  for (const headers of [
    {},
    { 'x-api-key': partnerHeaders['x-api-key']! },
    { authorization: partnerHeaders['authorization']! },
    merchant.headers,
  ])
    for (const path of [codePath('hello'), '/v1/codes/!!!', `/v1/codes/${'A'.repeat(5_000)}`]) {
      const { status, text } = await decoder.call('GET', path, { headers: headers });
      expect([status, text]).toEqual([401, '']);
    }
});

test('a code of 2048 characters is looked up, and a code that is longer, empty or not base64 of text causes a 400', async () => {
  const decodeParameter = async (parameter: string) => {
    const { status, body } = await decoder.call('GET', `/v1/codes/${parameter}`, { headers: partnerHeaders });
    return [status, body.errors];
  };
  const invalidCode = (message: string) => [400, [{ errorReference: '40', field: 'code', message }]];
  const unsupported = [422, [{ errorReference: '40', message: ERROR_CATALOGUE['code.unsupported'].message }]];
  const tooLong = invalidCode('code has at most 2048 characters');
  expect(await decodeParameter('A'.repeat(2_048))).toEqual(unsupported);
  expect(await decodeParameter('A'.repeat(2_049))).toEqual(tooLong);
  expect(await decodeParameter('%41'.repeat(2_048))).toEqual(unsupported);
  expect(await decodeParameter('%41'.repeat(2_049))).toEqual(tooLong);
  expect(await decodeParameter('A'.repeat(6_000))).toEqual(tooLong);
  // The slash is a character of base64. These slashes decode to bytes that are not UTF-8.
  expect(await decodeParameter('/'.repeat(2_048))).toEqual(invalidCode('code must be base64 of UTF-8 text'));
  expect(await decodeParameter('a b')).toEqual(invalidCode('code must be base64 or base64url'));
  expect(await decodeParameter('')).toEqual(invalidCode('code must be base64 or base64url'));
});

test('codes of this platform are decoded while payment-processor is stopped', async () => {
  const { code } = await decoder.createInvoice(merchant);
  await decoder.payables.stop();
  try {
    expect((await decode(code)).status).toBe(200);
  } finally {
    await decoder.payables.start();
  }
});
