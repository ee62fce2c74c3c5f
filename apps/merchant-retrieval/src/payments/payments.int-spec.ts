import { randomUUID } from 'node:crypto';
import { type PaymentSnapshot, SiteChangedV1 } from '@svc/contracts';
import { anEvent, aPayment, paymentEvent } from '@svc/testing';
import {
  createMerchant,
  type Merchant,
  newPaymentAt,
  queryPathsOf,
  type Retrieval,
  startRetrieval,
} from '../../test/retrieval.js';

let retrieval: Retrieval;
let merchant: Merchant;
let otherMerchant: Merchant;
beforeAll(async () => (retrieval = await startRetrieval()));
afterAll(() => retrieval.stop());
beforeEach(async () => {
  [merchant, otherMerchant] = [await createMerchant(retrieval), await createMerchant(retrieval)];
});

const now = () => retrieval.clock.now();
/** Delivers a new payment of the merchant with unique references. */
async function deliverPayment(overrides: Partial<PaymentSnapshot> = {}, at = now()): Promise<PaymentSnapshot> {
  const payment = newPaymentAt(merchant, at, overrides);
  if (payment.source.kind === 'session') payment.source = { ...payment.source, merchantOrderId: randomUUID() };
  await retrieval.deliver(paymentEvent(payment));
  return payment;
}
const ownerPaths = ({ merchantId, sites }: Merchant): readonly [string, string, string] => [
  `/${merchantId}`,
  `/${merchantId}/sites/${sites[0]}`,
  `/${merchantId}/sites/${sites[1]}`,
];
const listReferences = async (path: string, key: string) =>
  (await retrieval.list(path, key)).map(({ paymentReference }) => paymentReference);

test('each of the six routes returns all fields of a payment (M1)', async () => {
  const payment = await deliverPayment();
  const [merchantPath, sitePath] = ownerPaths(merchant);
  for (const owner of [merchantPath, sitePath])
    for (const queryPath of queryPathsOf(payment)) {
      const { status, headers, text } = await retrieval.get(`${owner}${queryPath}`, {
        'x-api-key': merchant.keys.merchant,
      });
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
          siteId: merchant.sites[0],
        },
      ]);
    }
});

test('a failed payment of a partner is returned with its vouchers, its customer and its till', async () => {
  const vouchers = [{ merchantLiable: true, amount: 2_000 }];
  const invoiceReference = randomUUID();
  const source = { ...aPayment('o', 'c').source, invoiceReference, externalReference: 'INV-7' } as never;
  const failed = aPayment(randomUUID(), 'c', {
    ...{ merchantId: merchant.merchantId, siteId: merchant.sites[1], paymentUTCDate: now().toISOString() },
    ...{ state: 'failed', processedAmount: 0, vouchers, source },
  });
  await retrieval.deliver(paymentEvent(failed));
  const [merchantPath, firstSitePath, secondSitePath] = ownerPaths(merchant);
  const queryPath = `/invoices/${invoiceReference}/payments`;
  const found = await retrieval.list(`${merchantPath}${queryPath}`, merchant.keys.merchant);
  expect(found).toMatchObject([
    { status: 2, tenderedAmount: 13_345, vouchers, customer: { firstName: 'Thandi', lastName: 'Nkosi' } },
  ]);
  expect(found).toMatchObject([
    { siteReference: 'TILL-1', invoiceExternalReference: 'INV-7', siteId: merchant.sites[1] },
  ]);
  expect(await retrieval.list(`${secondSitePath}${queryPath}`, merchant.keys.merchant)).toEqual(found);
  expect(await retrieval.list(`${firstSitePath}${queryPath}`, merchant.keys.merchant)).toEqual([]);
});

describe('a payment of site 1', () => {
  let payment: PaymentSnapshot;
  beforeEach(async () => (payment = await deliverPayment()));

  test.each(['x-api-key', 'authorization'])(
    'is found only with a key of its merchant or site in the header %s (A7)',
    async (header) => {
      const key = (apiKey: string) => ({ [header]: header === 'x-api-key' ? apiKey : `Bearer ${apiKey}` });
      const [merchantPath, firstSitePath, secondSitePath] = ownerPaths(merchant);
      for (const queryPath of queryPathsOf(payment)) {
        /** Returns the number of found payments, or the status of an error. */
        const countOrStatus = async (path: string, apiKey: string) => {
          const { status, text } = await retrieval.get(`${path}${queryPath}`, key(apiKey));
          return status === 200 ? (JSON.parse(text) as unknown[]).length : status;
        };
        expect([
          await countOrStatus(merchantPath, merchant.keys.merchant),
          await countOrStatus(firstSitePath, merchant.keys.merchant),
        ]).toEqual([1, 1]);
        expect(await countOrStatus(secondSitePath, merchant.keys.merchant)).toBe(0);
        // On a path of the whole merchant, the key of a site finds only payments of that site.
        expect([
          await countOrStatus(merchantPath, merchant.keys['site 1']),
          await countOrStatus(merchantPath, merchant.keys['site 2']),
        ]).toEqual([1, 0]);
        expect([
          await countOrStatus(firstSitePath, merchant.keys['site 1']),
          await countOrStatus(firstSitePath, merchant.keys['site 2']),
        ]).toEqual([1, 403]);
        expect([
          await countOrStatus(merchantPath, merchant.keys.live),
          await countOrStatus(firstSitePath, merchant.keys.live),
        ]).toEqual([0, 0]);
        for (const path of [merchantPath, firstSitePath])
          expect(await countOrStatus(path, otherMerchant.keys.merchant)).toBe(403);
        for (const path of [merchantPath, firstSitePath])
          expect(await countOrStatus(path, merchant.keys.revoked)).toBe(401);
        // A merchant does not find the payments of another merchant under its own path.
        for (const path of ownerPaths(otherMerchant))
          expect(await countOrStatus(path, otherMerchant.keys.merchant)).toBe(0);
        // The site of another merchant does not exist under the caller's merchant id.
        expect(
          await countOrStatus(`/${otherMerchant.merchantId}/sites/${merchant.sites[0]}`, otherMerchant.keys.merchant),
        ).toBe(0);
      }
    },
  );

  test('in live mode is found only with a live key', async () => {
    const live = await deliverPayment({ mode: 'live' });
    for (const owner of ownerPaths(merchant).slice(0, 2))
      for (const queryPath of queryPathsOf(live)) {
        expect(await listReferences(`${owner}${queryPath}`, merchant.keys.live)).toEqual([live.paymentReference]);
        expect(await listReferences(`${owner}${queryPath}`, merchant.keys.merchant)).toEqual([]);
      }
  });

  test('is not shown without a valid key: on any path the response is a 401 with an empty body', async () => {
    const queryPaths = [...queryPathsOf(payment), '/payments', `/invoices/${'x'.repeat(9_000)}/payments`];
    for (const owner of [...ownerPaths(merchant), '/x', '/x/sites/y'])
      for (const queryPath of queryPaths)
        for (const headers of [{}, { 'x-api-key': `${merchant.keys.merchant}x` }, { authorization: 'Bearer x' }]) {
          const { status, text } = await retrieval.get(`${owner}${queryPath}`, headers);
          expect([status, text]).toEqual([401, '']);
        }
  });
});

describe('the input of a query (M3):', () => {
  const get = async (path: string) => {
    const { status, text } = await retrieval.get(path, { 'x-api-key': merchant.keys.merchant });
    const body = JSON.parse(text) as { errors?: { field: string }[] };
    return status === 200 ? body : [status, body.errors?.map(({ field }) => field)];
  };

  test('a merchantId or siteId that does not consist of digits causes a 400, and the response names every invalid id', async () => {
    for (const queryPath of ['/payments?externalReference=x', '/payments/X', '/invoices/x/payments']) {
      for (const invalid of ['x', '-1', '1.5', '1e3', '0x10', '9'.repeat(16), '%20', '१']) {
        expect(await get(`/${invalid}${queryPath}`)).toEqual([400, ['merchantId']]);
        expect(await get(`/${merchant.merchantId}/sites/${invalid}${queryPath}`)).toEqual([400, ['siteId']]);
      }
      expect(await get(`/x/sites/y${queryPath}`)).toEqual([400, ['merchantId', 'siteId']]);
    }
  });

  test('a request causes a 400 if it does not contain exactly one externalReference with 1 to 100 characters', async () => {
    for (const owner of ownerPaths(merchant).slice(0, 2)) {
      const invalid = ['', '?externalReference=', '?externalReference=a&externalReference=a', '?externalreference=a'];
      for (const query of [...invalid, `?externalReference=${'x'.repeat(101)}`])
        expect(await get(`${owner}/payments${query}`)).toEqual([400, ['externalReference']]);
      for (const unknownReference of ['x'.repeat(100), '%00', '%20', 'a%00b', '%0A'])
        expect(await get(`${owner}/payments?externalReference=${unknownReference}`)).toEqual([]);
    }
  });

  test('an unknown or malformed id causes an empty list, and a payment id is valid in upper and lower case (C3)', async () => {
    const { paymentReference } = await deliverPayment();
    for (const owner of ownerPaths(merchant).slice(0, 2)) {
      for (const text of ['x', '%00', 'x'.repeat(101), 'x'.repeat(9_000), randomUUID(), '%20'])
        expect([text, await get(`${owner}/invoices/${text}/payments`)]).toEqual([text, []]);
      const unknown = paymentReference.slice(0, -1) + (paymentReference.endsWith('0') ? '1' : '0');
      for (const text of ['x', '%00', 'X'.repeat(18), unknown, 'x'.repeat(9_000)])
        expect([text, await get(`${owner}/payments/${text}`)]).toEqual([text, []]);
      expect(await get(`${owner}/payments/${paymentReference.toLowerCase()}`)).toMatchObject([{ paymentReference }]);
    }
  });

  test('an externalReference is compared exactly, and the list contains all payments that have it, newest first', async () => {
    const source = { ...newPaymentAt(merchant, now()).source, merchantOrderId: 'Order 1/é' } as never;
    const payments = [0, -1_000, -1_000, -60_000].map((ms) =>
      newPaymentAt(merchant, retrieval.clock.later(ms), { source, siteId: merchant.sites[ms === 0 ? 0 : 1] }),
    );
    await retrieval.deliver(...payments.map((payment) => paymentEvent(payment)));
    const [newest, ...others] = payments.map(({ paymentReference }) => paymentReference) as [
      string,
      string,
      string,
      string,
    ];
    // Two payments have the same time. They are sorted by payment reference, in descending order.
    const expected = [newest, ...others.slice(0, 2).toSorted().reverse(), others[2]];
    const [merchantPath, firstSitePath, secondSitePath] = ownerPaths(merchant);
    const queryPath = `/payments?externalReference=${encodeURIComponent('Order 1/é')}`;
    expect(await listReferences(`${merchantPath}${queryPath}`, merchant.keys.merchant)).toEqual(expected);
    expect(await listReferences(`${firstSitePath}${queryPath}`, merchant.keys.merchant)).toEqual([newest]);
    expect(await listReferences(`${secondSitePath}${queryPath}`, merchant.keys.merchant)).toEqual(expected.slice(1));
    for (const different of ['order 1/é', 'Order 1/e', 'Order 1/é ', 'Order 1'])
      expect(await get(`${merchantPath}/payments?externalReference=${encodeURIComponent(different)}`)).toEqual([]);
  });
});

describe('the windows of queries (M2):', () => {
  test('a payment is found by its references until it is 24 hours old, and is found by its id even later', async () => {
    const payment = await deliverPayment();
    const [byInvoice, byReference, byId] = queryPathsOf(payment) as [string, string, string];
    const areFound = async (): Promise<boolean[]> => {
      const results = [];
      for (const owner of ownerPaths(merchant).slice(0, 2))
        for (const queryPath of [byInvoice, byReference, byId])
          results.push((await listReferences(`${owner}${queryPath}`, merchant.keys.merchant)).length === 1);
      return results;
    };
    retrieval.clock.advance(86_400_000);
    expect(await areFound()).toEqual([true, true, true, true, true, true]);
    retrieval.clock.advance(1);
    expect(await areFound()).toEqual([false, false, true, false, false, true]);
  });

  test('a payment is found by its id until it is exactly three calendar months old', async () => {
    const from = new Date(now());
    from.setUTCMonth(from.getUTCMonth() - 3);
    const oldest = await deliverPayment({}, from);
    const newer = await deliverPayment({}, new Date(from.getTime() + 1));
    const byId = ({ paymentReference }: PaymentSnapshot) =>
      listReferences(`/${merchant.merchantId}/payments/${paymentReference}`, merchant.keys.merchant);
    expect(await byId(oldest)).toEqual([oldest.paymentReference]);
    retrieval.clock.advance(1);
    expect(await byId(oldest)).toEqual([]);
    expect(await byId(newer)).toEqual([newer.paymentReference]);
  });
});

test('a payment has the reference that its site had at the time of payment', async () => {
  const payment = await deliverPayment();
  await retrieval.deliver(
    anEvent(SiteChangedV1, String(merchant.sites[0]), 2, {
      ...{
        merchantId: merchant.merchantId,
        siteId: merchant.sites[0],
        merchantName: 'Karoo Books',
        siteReference: 'RENAMED',
      },
      ...{
        name: 'x',
        requireApiKey: true,
        allowedHosts: [],
        keylessMode: 'test',
        webhookEnabled: false,
        challengePayers: false,
      },
    }),
  );
  const path = `/${merchant.merchantId}/payments/${payment.paymentReference}`;
  expect(await retrieval.list(path, merchant.keys.merchant)).toMatchObject([{ siteReference: 'SITE-1' }]);
});
