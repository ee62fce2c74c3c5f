/** An invoice and the code of a till belong to one site in one mode. Any partner in this mode may decode the code. */
import { newOwnCode } from '@svc/kernel';
import { type Decoder, type Merchant, startDecoder } from '../../test/decoder.js';
import { codePath, createPartner } from '../../test/partner.js';

/** Merchants and sites that must not find an invoice of the owner. */
const OTHER_OWNERS = [
  'the same site in the other mode',
  'another site of the same merchant',
  'another merchant',
  'another merchant whose site has the same number',
] as const;
type OtherOwner = (typeof OTHER_OWNERS)[number];

let decoder: Decoder;
let owner: Merchant;
let otherOwners: Readonly<Record<OtherOwner, Merchant>>;
let partnerHeaders: Readonly<Record<'test' | 'live', Record<string, string>>>;
beforeAll(async () => {
  decoder = await startDecoder();
});
beforeEach(async () => {
  owner = await decoder.createMerchant();
  const { merchantId, siteId } = owner;
  otherOwners = {
    'the same site in the other mode': await decoder.createMerchant({ merchantId, siteId, mode: 'live' }),
    'another site of the same merchant': await decoder.createMerchant({ merchantId }),
    'another merchant': await decoder.createMerchant(),
    'another merchant whose site has the same number': await decoder.createMerchant({ siteId }),
  };
  partnerHeaders = { test: await createPartner(decoder), live: await createPartner(decoder, 'live') };
});
afterAll(() => decoder.stop());

/** Calls a path below the path of the merchant's site. */
const call = (method: 'GET' | 'PUT' | 'DELETE', { path, headers }: Merchant, subpath: string) =>
  decoder.call(method, `${path}${subpath}`, { headers });

describe.each(OTHER_OWNERS)('%s', (name) => {
  test('can neither read nor close an invoice of the owner', async () => {
    const otherOwner = otherOwners[name];
    const { reference } = await decoder.createInvoice(owner, { externalReference: 'basket-1' });
    expect((await call('GET', otherOwner, `/invoices/${reference}`)).status).toBe(404);
    expect((await call('DELETE', otherOwner, '/invoices?externalReference=basket-1')).status).toBe(404);
    expect(decoder.payables.getState(reference)).toBe('open');
    expect((await call('GET', owner, `/invoices/${reference}`)).body).toMatchObject({ reference, state: 'open' });
  });

  test('does not find the code of a till of the owner', async () => {
    expect((await call('PUT', owner, '/tills/TILL-1/code')).status).toBe(201);
    expect((await call('GET', otherOwners[name], '/tills/TILL-1/code')).status).toBe(404);
    expect((await call('GET', owner, '/tills/TILL-2/code')).status).toBe(404);
    expect((await call('GET', owner, '/tills/TILL-1/code')).status).toBe(200);
  });
});

test('the same externalReference belongs to a separate invoice at each site and in each mode', async () => {
  // Outside of tests a site id belongs to one merchant, so two merchants with the same site id are not tested here.
  const { 'another merchant whose site has the same number': _, ...others } = otherOwners;
  const merchants = [owner, ...Object.values(others)];
  const postInvoice = (merchant: Merchant) =>
    decoder.call('POST', `${merchant.path}/invoices`, {
      headers: merchant.headers,
      payload: {
        externalReference: 'basket-2',
        siteReference: 'TILL-1',
        currencyISOCode: 'ZAR',
        amount: 500,
        origin: 'POS',
        createdUTCDate: '2026-03-01T09:59:58.000Z',
      },
    });
  const references: string[] = [];
  for (const merchant of merchants) references.push((await postInvoice(merchant)).body.reference as string);
  expect(new Set(references).size).toBe(merchants.length);
  for (const [index, merchant] of merchants.entries()) {
    const { status, body } = await postInvoice(merchant);
    expect([status, body.reference]).toEqual([200, references[index]]);
  }
  const states = (): (string | undefined)[] => references.map((reference) => decoder.payables.getState(reference));
  for (const [index, merchant] of merchants.entries()) {
    expect((await call('DELETE', merchant, '/invoices?externalReference=basket-2')).status).toBe(204);
    expect(states()).toEqual(references.map((__, position) => (position <= index ? 'closed' : 'open')));
  }
});

test('a key gets a 403 on the path of another merchant, and a 404 on its own path with a foreign site', async () => {
  const otherMerchant = otherOwners['another merchant whose site has the same number'];
  for (const key of [otherMerchant.siteKey, otherMerchant.merchantKey]) {
    const { status } = await decoder.call('GET', `${owner.path}/invoices/x`, { headers: { 'x-api-key': key } });
    expect(status).toBe(403);
  }
  const foreignSiteId = otherOwners['another merchant'].siteId;
  const path = `/business/api/v1/merchants/${owner.merchantId}/sites/${foreignSiteId}`;
  expect(
    (await call('PUT', { ...owner, path, headers: { 'x-api-key': owner.merchantKey } }, '/tills/T/code')).status,
  ).toBe(404);
});

describe('codes', () => {
  test('the code of an invoice is decoded with the name of the merchant of the invoice', async () => {
    // Until the event of the merchant arrives, the merchant has the name from the event of its site.
    const first = await decoder.createMerchant({ name: 'Name of a site' });
    const { merchantId, siteId } = first;
    const merchants = [
      first,
      await decoder.createMerchant({ merchantId, name: 'Name of another site' }),
      await decoder.createMerchant({ siteId, name: 'Name of another merchant' }),
    ];
    const names: unknown[] = [];
    for (const merchant of merchants) {
      const { code } = await decoder.createInvoice(merchant);
      names.push(
        (await decoder.call('GET', codePath(code), { headers: partnerHeaders.test })).body.merchant.merchantName,
      );
    }
    expect(names).toEqual(['Name of a site', 'Name of another site', 'Name of another merchant']);
  });

  const decodeReference = async (code: string, mode: 'test' | 'live'): Promise<string | number> => {
    const { status, body } = await decoder.call('GET', codePath(code), { headers: partnerHeaders[mode] });
    return status === 200 ? (body.invoice.invoiceReference as string) : status;
  };

  test('the code of an invoice is found only by partners in the mode of the invoice', async () => {
    const live = otherOwners['the same site in the other mode'];
    for (const [merchant, ownMode, otherMode] of [
      [owner, 'test', 'live'],
      [live, 'live', 'test'],
    ] as const) {
      const { reference, code } = await decoder.createInvoice(merchant);
      expect([await decodeReference(code, ownMode), await decodeReference(code, otherMode)]).toEqual([reference, 404]);
    }
    expect(await decodeReference(newOwnCode(), 'test')).toBe(404);
  });

  test('the code of a till is decoded to the open invoice of this till, at its site and in its mode', async () => {
    const live = otherOwners['the same site in the other mode'];
    const otherSite = otherOwners['another site of the same merchant'];
    const getTillCode = async (merchant: Merchant, till: string) =>
      (await call('PUT', merchant, `/tills/${till}/code`)).body.code as string;
    const [code, liveCode] = [await getTillCode(owner, 'TILL-1'), await getTillCode(live, 'TILL-1')];
    const otherTill = await getTillCode(owner, 'TILL-2');
    await decoder.createInvoice(otherSite);
    await decoder.createInvoice(owner, { siteReference: 'TILL-3' });
    const liveInvoice = await decoder.createInvoice(live);
    expect([await decodeReference(code, 'test'), await decodeReference(otherTill, 'test')]).toEqual([404, 404]);
    expect([
      await decodeReference(liveCode, 'live'),
      await decodeReference(liveCode, 'test'),
      await decodeReference(code, 'live'),
    ]).toEqual([liveInvoice.reference, 404, 404]);
    const { reference } = await decoder.createInvoice(owner);
    expect([await decodeReference(code, 'test'), await decodeReference(liveCode, 'live')]).toEqual([
      reference,
      liveInvoice.reference,
    ]);
    // Now both modes have an open invoice at this till.
    expect([await decodeReference(code, 'live'), await decodeReference(liveCode, 'test')]).toEqual([404, 404]);
  });

  test('the code of a till is decoded to the newest open invoice of the till, and causes a 404 when the invoice expires', async () => {
    const { code } = (await call('PUT', owner, '/tills/TILL-1/code')).body as { code: string };
    const first = await decoder.createInvoice(owner, { externalReference: 'first' });
    const second = await decoder.createInvoice(owner, { externalReference: 'second' });
    const [newer, older] = first.reference > second.reference ? [first, second] : [second, first];
    // Both invoices were created in the same millisecond, so the invoice with the greater id counts as newer.
    expect(await decodeReference(code, 'test')).toBe(newer.reference);
    expect((await call('DELETE', owner, `/invoices?externalReference=${newer.externalReference}`)).status).toBe(204);
    expect(await decodeReference(code, 'test')).toBe(older.reference);
    const startMs = decoder.clock.now().getTime();
    decoder.clock.advance(3_599_999);
    // The tokens of the partners have expired.
    partnerHeaders = { test: await createPartner(decoder), live: await createPartner(decoder, 'live') };
    expect(await decodeReference(code, 'test')).toBe(older.reference);
    decoder.clock.advance(1);
    expect(await decodeReference(code, 'test')).toBe(404);
    // Resets the clock for the next test.
    decoder.clock.advance(startMs - decoder.clock.now().getTime());
  });
});
