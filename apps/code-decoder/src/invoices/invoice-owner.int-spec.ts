/** An invoice and the code of a till belong to one site in one mode; a scanned code belongs to one mode and one till. */
import { newOwnCode } from '@svc/kernel';
import { type Decoder, type Merchant, startDecoder } from '../../test/decoder.js';
import { aPartner, codePath } from '../../test/partner.js';

/** Each differs from the owner in one property. */
const STRANGERS = [
  'the same site in the other mode',
  'another site of the same merchant',
  'another merchant',
  'another merchant whose site has the same number',
] as const;
type Stranger = (typeof STRANGERS)[number];

let decoder: Decoder;
let owner: Merchant;
let strangers: Readonly<Record<Stranger, Merchant>>;
let partners: Readonly<Record<'test' | 'live', Record<string, string>>>;
beforeAll(async () => {
  decoder = await startDecoder();
});
beforeEach(async () => {
  owner = await decoder.aMerchant();
  const { merchantId, siteId } = owner;
  strangers = {
    'the same site in the other mode': await decoder.aMerchant({ merchantId, siteId, mode: 'live' }),
    'another site of the same merchant': await decoder.aMerchant({ merchantId }),
    'another merchant': await decoder.aMerchant(),
    'another merchant whose site has the same number': await decoder.aMerchant({ siteId }),
  };
  partners = { test: await aPartner(decoder), live: await aPartner(decoder, 'live') };
});
afterAll(() => decoder.stop());

const call = (method: 'GET' | 'PUT' | 'DELETE', { path, headers }: Merchant, below: string) =>
  decoder.call(method, `${path}${below}`, { headers });

describe.each(STRANGERS)('%s', (name) => {
  test('can neither read nor close an invoice', async () => {
    const stranger = strangers[name];
    const { reference } = await decoder.createInvoice(owner, { externalReference: 'basket-1' });
    expect((await call('GET', stranger, `/invoices/${reference}`)).status).toBe(404);
    expect((await call('DELETE', stranger, '/invoices?externalReference=basket-1')).status).toBe(404);
    expect(decoder.payables.stateOf(reference)).toBe('open');
    expect((await call('GET', owner, `/invoices/${reference}`)).body).toMatchObject({ reference, state: 'open' });
  });

  test('does not find the code of a till', async () => {
    expect((await call('PUT', owner, '/tills/TILL-1/code')).status).toBe(201);
    expect((await call('GET', strangers[name], '/tills/TILL-1/code')).status).toBe(404);
    expect((await call('GET', owner, '/tills/TILL-2/code')).status).toBe(404);
    expect((await call('GET', owner, '/tills/TILL-1/code')).status).toBe(200);
  });
});

test('one externalReference creates a separate invoice for each site and mode, also when it is sent or closed again', async () => {
  const { 'another merchant whose site has the same number': _, ...others } = strangers;
  const merchants = [owner, ...Object.values(others)];
  const make = (merchant: Merchant) =>
    decoder.call('POST', `${merchant.path}/invoices`, {
      headers: merchant.headers,
      payload: {
        ...{ externalReference: 'basket-2', siteReference: 'TILL-1', currencyISOCode: 'ZAR', amount: 500 },
        ...{ origin: 'POS', createdUTCDate: '2026-03-01T09:59:58.000Z' },
      },
    });
  const made: string[] = [];
  for (const merchant of merchants) made.push((await make(merchant)).body.reference as string);
  expect(new Set(made).size).toBe(merchants.length);
  for (const [nth, merchant] of merchants.entries()) {
    const { status, body } = await make(merchant);
    expect([status, body.reference]).toEqual([200, made[nth]]);
  }
  const states = (): (string | undefined)[] => made.map((reference) => decoder.payables.stateOf(reference));
  for (const [nth, merchant] of merchants.entries()) {
    expect((await call('DELETE', merchant, '/invoices?externalReference=basket-2')).status).toBe(204);
    expect(states()).toEqual(made.map((__, other) => (other <= nth ? 'closed' : 'open')));
  }
});

test('the key of a site only works for its own merchant', async () => {
  const twin = strangers['another merchant whose site has the same number'];
  for (const key of [twin.siteKey, twin.merchantKey]) {
    const { status } = await decoder.call('GET', `${owner.path}/invoices/x`, { headers: { 'x-api-key': key } });
    expect(status).toBe(403);
  }
  const foreign = strangers['another merchant'].siteId;
  const path = `/business/api/v1/merchants/${owner.merchantId}/sites/${foreign}`;
  expect(
    (await call('PUT', { ...owner, path, headers: { 'x-api-key': owner.merchantKey } }, '/tills/T/code')).status,
  ).toBe(404);
});

describe('a scanned code', () => {
  test('of an invoice names the merchant of its site', async () => {
    // Until the merchant's own event arrives, its name is the one from the site's event.
    const first = await decoder.aMerchant({ name: 'Name of a site' });
    const { merchantId, siteId } = first;
    const merchants = [
      first,
      await decoder.aMerchant({ merchantId, name: 'Name of another site' }),
      await decoder.aMerchant({ siteId, name: 'Name of another merchant' }),
    ];
    const names: unknown[] = [];
    for (const merchant of merchants) {
      const { code } = await decoder.createInvoice(merchant);
      names.push((await decoder.call('GET', codePath(code), { headers: partners.test })).body.merchant.merchantName);
    }
    expect(names).toEqual(['Name of a site', 'Name of another site', 'Name of another merchant']);
  });

  const scan = async (code: string, mode: 'test' | 'live'): Promise<string | number> => {
    const { status, body } = await decoder.call('GET', codePath(code), { headers: partners[mode] });
    return status === 200 ? (body.invoice.invoiceReference as string) : status;
  };

  test('of an invoice is only found in its mode', async () => {
    const live = strangers['the same site in the other mode'];
    for (const [merchant, own, other] of [
      [owner, 'test', 'live'],
      [live, 'live', 'test'],
    ] as const) {
      const { reference, code } = await decoder.createInvoice(merchant);
      expect([await scan(code, own), await scan(code, other)]).toEqual([reference, 404]);
    }
    expect(await scan(newOwnCode(), 'test')).toBe(404);
  });

  test('of a till refers to the open invoice of that till, in its site and mode', async () => {
    const live = strangers['the same site in the other mode'];
    const sibling = strangers['another site of the same merchant'];
    const codeOf = async (merchant: Merchant, till: string) =>
      (await call('PUT', merchant, `/tills/${till}/code`)).body.code as string;
    const [code, liveCode] = [await codeOf(owner, 'TILL-1'), await codeOf(live, 'TILL-1')];
    const otherTill = await codeOf(owner, 'TILL-2');
    const elsewhere = [
      await decoder.createInvoice(sibling),
      await decoder.createInvoice(live),
      await decoder.createInvoice(owner, { siteReference: 'TILL-3' }),
    ];
    expect([await scan(code, 'test'), await scan(otherTill, 'test')]).toEqual([404, 404]);
    expect([await scan(liveCode, 'live'), await scan(liveCode, 'test'), await scan(code, 'live')]).toEqual([
      elsewhere[1]!.reference,
      404,
      404,
    ]);
    const { reference } = await decoder.createInvoice(owner);
    expect([await scan(code, 'test'), await scan(liveCode, 'live')]).toEqual([reference, elsewhere[1]!.reference]);
    // Now both modes have an open invoice at this till.
    expect([await scan(code, 'live'), await scan(liveCode, 'test')]).toEqual([404, 404]);
  });

  test('of a till refers to the newest invoice until that expires, to the millisecond, or is closed', async () => {
    const { code } = (await call('PUT', owner, '/tills/TILL-1/code')).body as { code: string };
    const older = await decoder.createInvoice(owner, { externalReference: 'older' });
    const newer = await decoder.createInvoice(owner, { externalReference: 'newer' });
    const newest = older.reference > newer.reference ? older : newer;
    // Both were created in the same millisecond: the greater id is the newer one.
    expect(await scan(code, 'test')).toBe(newest.reference);
    const first = newest === older ? 'older' : 'newer';
    expect((await call('DELETE', owner, `/invoices?externalReference=${first}`)).status).toBe(204);
    expect(await scan(code, 'test')).toBe((newest === older ? newer : older).reference);
    const start = decoder.clock.now().getTime();
    decoder.clock.advance(3_599_999);
    partners = { test: await aPartner(decoder), live: await aPartner(decoder, 'live') };
    expect(await scan(code, 'test')).toBe((newest === older ? newer : older).reference);
    decoder.clock.advance(1);
    expect(await scan(code, 'test')).toBe(404);
    decoder.clock.advance(start - decoder.clock.now().getTime());
  });
});
