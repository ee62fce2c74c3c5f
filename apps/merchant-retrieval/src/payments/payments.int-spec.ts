import { randomUUID } from 'node:crypto';
import { type PaymentSnapshot, SiteChangedV1 } from '@svc/contracts';
import { anEvent, aPayment, paymentEvent } from '@svc/testing';
import {
  createMerchant,
  queryPathsOf,
  type Merchant,
  newPaymentAt,
  type Retrieval,
  startRetrieval,
} from '../../test/retrieval.js';

let retrieval: Retrieval;
let ours: Merchant;
let theirs: Merchant;
beforeAll(async () => (retrieval = await startRetrieval()));
afterAll(() => retrieval.stop());
beforeEach(async () => {
  [ours, theirs] = [await createMerchant(retrieval), await createMerchant(retrieval)];
});

const now = () => retrieval.clock.now();
/** A new payment of this merchant with unique references. */
async function made(over: Partial<PaymentSnapshot> = {}, at = now()): Promise<PaymentSnapshot> {
  const payment = newPaymentAt(ours, at, over);
  if (payment.source.kind === 'session') payment.source = { ...payment.source, merchantOrderId: randomUUID() };
  await retrieval.deliver(paymentEvent(payment));
  return payment;
}
const pathsOf = ({ merchantId, sites }: Merchant): readonly [string, string, string] => [
  `/${merchantId}`,
  `/${merchantId}/sites/${sites[0]}`,
  `/${merchantId}/sites/${sites[1]}`,
];
const references = async (path: string, key: string) =>
  (await retrieval.list(path, key)).map(({ paymentReference }) => paymentReference);

test('each of the six endpoints returns every field of the model (M1)', async () => {
  const payment = await made();
  const [merchant, site] = pathsOf(ours);
  for (const owner of [merchant, site])
    for (const lookUp of queryPathsOf(payment)) {
      const { status, headers, text } = await retrieval.get(`${owner}${lookUp}`, { 'x-api-key': ours.keys.merchant });
      expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
      expect(headers['cache-control']).toBe('no-store');
      expect(JSON.parse(text)).toStrictEqual([
        {
          invoiceReference: payment.payable.payableId,
          invoiceExternalReference: (payment.source as { merchantOrderId: string }).merchantOrderId,
          currencyISOCode: 'ZAR',
          invoicedAmount: 12_345,
          paymentReference: payment.paymentReference,
          paymentUTCDate: now().toISOString(),
          tipAmount: 1_000,
          tenderedAmount: 13_345,
          siteReference: 'SITE-1',
          status: 1,
          vouchers: [],
          customer: { firstName: '', lastName: '' },
          siteId: ours.sites[0],
        },
      ]);
    }
});

test('a partner’s failed payment of an invoice has its vouchers, its customer and its till', async () => {
  const vouchers = [{ merchantLiable: true, amount: 2_000 }];
  const invoiceReference = randomUUID();
  const source = { ...aPayment('o', 'c').source, invoiceReference, externalReference: 'INV-7' } as never;
  const failed = aPayment(randomUUID(), 'c', {
    ...{ merchantId: ours.merchantId, siteId: ours.sites[1], paymentUTCDate: now().toISOString() },
    ...{ state: 'failed', processedAmount: 0, vouchers, source },
  });
  await retrieval.deliver(paymentEvent(failed));
  const [merchant, first, second] = pathsOf(ours);
  const lookUp = `/invoices/${invoiceReference}/payments`;
  const found = await retrieval.list(`${merchant}${lookUp}`, ours.keys.merchant);
  expect(found).toMatchObject([
    { status: 2, tenderedAmount: 13_345, vouchers, customer: { firstName: 'Thandi', lastName: 'Nkosi' } },
  ]);
  expect(found).toMatchObject([{ siteReference: 'TILL-1', invoiceExternalReference: 'INV-7', siteId: ours.sites[1] }]);
  expect(await retrieval.list(`${second}${lookUp}`, ours.keys.merchant)).toEqual(found);
  expect(await retrieval.list(`${first}${lookUp}`, ours.keys.merchant)).toEqual([]);
});

describe('access to a payment of site 1 (A7)', () => {
  let payment: PaymentSnapshot;
  beforeEach(async () => (payment = await made()));

  test.each(['x-api-key', 'authorization'])('the key in %s', async (header) => {
    const key = (apiKey: string) => ({ [header]: header === 'x-api-key' ? apiKey : `Bearer ${apiKey}` });
    const [merchant, first, second] = pathsOf(ours);
    for (const lookUp of queryPathsOf(payment)) {
      const seen = async (path: string, apiKey: string) => {
        const { status, text } = await retrieval.get(`${path}${lookUp}`, key(apiKey));
        return status === 200 ? (JSON.parse(text) as unknown[]).length : status;
      };
      expect([await seen(merchant, ours.keys.merchant), await seen(first, ours.keys.merchant)]).toEqual([1, 1]);
      expect(await seen(second, ours.keys.merchant)).toBe(0);
      // A site's key on a path of the whole merchant finds what is its site's.
      expect([await seen(merchant, ours.keys['site 1']), await seen(merchant, ours.keys['site 2'])]).toEqual([1, 0]);
      expect([await seen(first, ours.keys['site 1']), await seen(first, ours.keys['site 2'])]).toEqual([1, 403]);
      expect([await seen(merchant, ours.keys.live), await seen(first, ours.keys.live)]).toEqual([0, 0]);
      for (const path of [merchant, first]) expect(await seen(path, theirs.keys.merchant)).toBe(403);
      for (const path of [merchant, first]) expect(await seen(path, ours.keys.revoked)).toBe(401);
      // A payment of another merchant, on the caller's own path.
      for (const path of pathsOf(theirs)) expect(await seen(path, theirs.keys.merchant)).toBe(0);
      // The site of another merchant under the caller's own merchant number does not exist.
      expect(await seen(`/${theirs.merchantId}/sites/${ours.sites[0]}`, theirs.keys.merchant)).toBe(0);
    }
  });

  test('a live payment is found only with a live key', async () => {
    const live = await made({ mode: 'live' });
    for (const owner of pathsOf(ours).slice(0, 2))
      for (const lookUp of queryPathsOf(live)) {
        expect(await references(`${owner}${lookUp}`, ours.keys.live)).toEqual([live.paymentReference]);
        expect(await references(`${owner}${lookUp}`, ours.keys.merchant)).toEqual([]);
      }
  });

  test('an invalid, an unknown and a missing key are a 401 with an empty body, whatever else is wrong', async () => {
    const lookUps = [...queryPathsOf(payment), '/payments', `/invoices/${'x'.repeat(9_000)}/payments`];
    for (const owner of [...pathsOf(ours), '/x', '/x/sites/y'])
      for (const lookUp of lookUps)
        for (const headers of [{}, { 'x-api-key': `${ours.keys.merchant}x` }, { authorization: 'Bearer x' }]) {
          const { status, text } = await retrieval.get(`${owner}${lookUp}`, headers);
          expect([status, text]).toEqual([401, '']);
        }
  });
});

describe('input (M3)', () => {
  const get = async (path: string) => {
    const { status, text } = await retrieval.get(path, { 'x-api-key': ours.keys.merchant });
    const body = JSON.parse(text) as { errors?: { field: string }[] };
    return status === 200 ? body : [status, body.errors?.map(({ field }) => field)];
  };

  test('ids consist of digits; the error names every wrong id', async () => {
    for (const lookUp of ['/payments?externalReference=x', '/payments/X', '/invoices/x/payments']) {
      for (const wrong of ['x', '-1', '1.5', '1e3', '0x10', '9'.repeat(16), '%20', '१']) {
        expect(await get(`/${wrong}${lookUp}`)).toEqual([400, ['merchantId']]);
        expect(await get(`/${ours.merchantId}/sites/${wrong}${lookUp}`)).toEqual([400, ['siteId']]);
      }
      expect(await get(`/x/sites/y${lookUp}`)).toEqual([400, ['merchantId', 'siteId']]);
    }
  });

  test('an externalReference occurs once, with 1 to 100 characters', async () => {
    for (const owner of pathsOf(ours).slice(0, 2)) {
      const wrong = ['', '?externalReference=', '?externalReference=a&externalReference=a', '?externalreference=a'];
      for (const query of [...wrong, `?externalReference=${'x'.repeat(101)}`])
        expect(await get(`${owner}/payments${query}`)).toEqual([400, ['externalReference']]);
      for (const nothing of ['x'.repeat(100), '%00', '%20', 'a%00b', '%0A'])
        expect(await get(`${owner}/payments?externalReference=${nothing}`)).toEqual([]);
    }
  });

  test('an unknown or malformed invoice or payment is an empty list; a payment is found in upper and lower case (C3)', async () => {
    const { paymentReference } = await made();
    for (const owner of pathsOf(ours).slice(0, 2)) {
      for (const text of ['x', '%00', 'x'.repeat(101), 'x'.repeat(9_000), randomUUID(), '%20'])
        expect([text, await get(`${owner}/invoices/${text}/payments`)]).toEqual([text, []]);
      const other = paymentReference.slice(0, -1) + (paymentReference.endsWith('0') ? '1' : '0');
      for (const text of ['x', '%00', 'X'.repeat(18), other, 'x'.repeat(9_000)])
        expect([text, await get(`${owner}/payments/${text}`)]).toEqual([text, []]);
      expect(await get(`${owner}/payments/${paymentReference.toLowerCase()}`)).toMatchObject([{ paymentReference }]);
    }
  });

  test('a reference is compared exactly, and a reused reference finds all its payments, newest first', async () => {
    const source = { ...newPaymentAt(ours, now()).source, merchantOrderId: 'Order 1/é' } as never;
    const payments = [0, -1_000, -1_000, -60_000].map((ms) =>
      newPaymentAt(ours, retrieval.clock.later(ms), { source, siteId: ours.sites[ms === 0 ? 0 : 1] }),
    );
    await retrieval.deliver(...payments.map((payment) => paymentEvent(payment)));
    const [newest, ...others] = payments.map(({ paymentReference }) => paymentReference) as [
      string,
      string,
      string,
      string,
    ];
    const expected = [newest, ...others.slice(0, 2).toSorted().reverse(), others[2]];
    const [merchant, first, second] = pathsOf(ours);
    const lookUp = `/payments?externalReference=${encodeURIComponent('Order 1/é')}`;
    expect(await references(`${merchant}${lookUp}`, ours.keys.merchant)).toEqual(expected);
    expect(await references(`${first}${lookUp}`, ours.keys.merchant)).toEqual([newest]);
    expect(await references(`${second}${lookUp}`, ours.keys.merchant)).toEqual(expected.slice(1));
    for (const other of ['order 1/é', 'Order 1/e', 'Order 1/é ', 'Order 1'])
      expect(await get(`${merchant}/payments?externalReference=${encodeURIComponent(other)}`)).toEqual([]);
  });
});

describe('windows (M2)', () => {
  test('a payment that is exactly 24 hours old is found by its references, and a millisecond later only by its id', async () => {
    const payment = await made();
    const [byInvoice, byReference, byId] = queryPathsOf(payment) as [string, string, string];
    const found = async (): Promise<boolean[]> => {
      const seen = [];
      for (const owner of pathsOf(ours).slice(0, 2))
        for (const lookUp of [byInvoice, byReference, byId])
          seen.push((await references(`${owner}${lookUp}`, ours.keys.merchant)).length === 1);
      return seen;
    };
    retrieval.clock.advance(86_400_000);
    expect(await found()).toEqual([true, true, true, true, true, true]);
    retrieval.clock.advance(1);
    expect(await found()).toEqual([false, false, true, false, false, true]);
  });

  test('a payment is found by id for three calendar months, including its first moment', async () => {
    const from = new Date(now());
    from.setUTCMonth(from.getUTCMonth() - 3);
    const inside = await made({}, from);
    const outside = await made({}, new Date(from.getTime() + 1));
    const byId = ({ paymentReference }: PaymentSnapshot) =>
      references(`/${ours.merchantId}/payments/${paymentReference}`, ours.keys.merchant);
    expect(await byId(inside)).toEqual([inside.paymentReference]);
    retrieval.clock.advance(1);
    expect(await byId(inside)).toEqual([]);
    expect(await byId(outside)).toEqual([outside.paymentReference]);
  });
});

test('a payment of an earlier release has the site’s current reference, or none', async () => {
  const old = newPaymentAt(ours, now());
  delete old.siteReference;
  await retrieval.deliver(paymentEvent(old));
  const path = `/${ours.merchantId}/payments/${old.paymentReference}`;
  expect(await retrieval.list(path, ours.keys.merchant)).toMatchObject([{ siteReference: 'SITE-1' }]);
  const unknown = newPaymentAt(ours, now(), { siteId: theirs.sites[0] });
  delete unknown.siteReference;
  await retrieval.deliver(paymentEvent(unknown));
  const other = `/${ours.merchantId}/payments/${unknown.paymentReference}`;
  expect(await retrieval.list(other, ours.keys.merchant)).toMatchObject([{ siteReference: '' }]);
});

test('a payment keeps the site’s reference of the time of payment', async () => {
  const payment = await made();
  await retrieval.deliver(
    anEvent(SiteChangedV1, String(ours.sites[0]), 2, {
      ...{ merchantId: ours.merchantId, siteId: ours.sites[0], merchantName: 'Karoo Books', siteReference: 'RENAMED' },
      ...{ name: 'x', requireApiKey: true, allowedHosts: [], keylessMode: 'test' },
    }),
  );
  const path = `/${ours.merchantId}/payments/${payment.paymentReference}`;
  expect(await retrieval.list(path, ours.keys.merchant)).toMatchObject([{ siteReference: 'SITE-1' }]);
});
