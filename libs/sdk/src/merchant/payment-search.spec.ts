import { MerchantClient, type MerchantPayment } from '../index.js';

const PAYMENT = {
  ...{ invoiceReference: 'i-1', invoiceExternalReference: 'A-7', currencyISOCode: 'ZAR', invoicedAmount: 12_345 },
  ...{ paymentReference: '1VQ5K3P0ABCDEFGHJK', paymentUTCDate: '2026-11-20T18:03:36.123Z', tipAmount: 500 },
  ...{ tenderedAmount: 12_845, siteReference: 'TILL-1', status: 1, vouchers: [], siteId: 2 },
  customer: { firstName: 'Thandi', lastName: 'Nkosi' },
};
const BASE = 'https://api.example/edge/business/api/v1/merchants/1001/payment-search';

/** Responds with these pages in turn, each with its header `Link`, and records the URLs. */
function searchIn(...pages: { link?: string; body: unknown }[]) {
  const urls: string[] = [];
  const fetch = (url: unknown): Promise<Response> => {
    const { link, body } = pages[urls.push(url as string) - 1]!;
    return Promise.resolve(Response.json(body, { headers: link === undefined ? {} : { link } }));
  };
  const client = new MerchantClient({
    apiUrl: 'https://api.example/edge',
    merchantId: 1001,
    apiKey: 'k',
    fetch: fetch,
  });
  return { client, urls };
}
async function collect(payments: AsyncIterable<MerchantPayment>): Promise<string[]> {
  const references = [];
  for await (const { paymentReference, status } of payments) references.push(`${paymentReference} ${status}`);
  return references;
}

test('a search follows the links to the next pages', async () => {
  const { client, urls } = searchIn(
    {
      link: '<payment-search?orderId=A+7&after=c1>; rel="next"',
      body: [PAYMENT, { ...PAYMENT, paymentReference: 'P2' }],
    },
    {
      link: '<payment-search?orderId=A+7&after=c2>; rel="next"',
      body: [{ ...PAYMENT, paymentReference: 'P3', status: 2 }],
    },
    { body: [] },
  );
  expect(await collect(client.searchPayments('A 7'))).toEqual([
    '1VQ5K3P0ABCDEFGHJK Success',
    'P2 Success',
    'P3 Failed',
  ]);
  expect(urls).toEqual([`${BASE}?orderId=A+7`, `${BASE}?orderId=A+7&after=c1`, `${BASE}?orderId=A+7&after=c2`]);
});

test('a search sends days as they are, and times in UTC', async () => {
  const { client, urls } = searchIn({ body: [] }, { body: [] });
  await collect(client.searchPayments('A', { from: '2026-11-01', to: '2026-11-20' }));
  await collect(client.searchPayments('A', { from: new Date('2026-11-01T02:00:00+02:00'), to: new Date(0) }));
  expect(urls.map((url) => Object.fromEntries(new URL(url).searchParams))).toEqual([
    { orderId: 'A', from: '2026-11-01', to: '2026-11-20' },
    { orderId: 'A', from: '2026-11-01T00:00:00.000Z', to: '1970-01-01T00:00:00.000Z' },
  ]);
});

test.each([
  '<https://other.example/edge/business/api/v1/merchants/1001/payment-search?after=c>; rel="next"',
  '<refunds?after=c>; rel="next"',
  '<http://[/>; rel="next"',
  '<payment-search?after=c>; rel="help"',
  'payment-search?after=c',
])('a search ends at the link %s, to which it does not send the key', async (link) => {
  const { client, urls } = searchIn({ link, body: [PAYMENT] });
  expect(await collect(client.searchPayments('A'))).toHaveLength(1);
  expect(urls).toHaveLength(1);
});

test('a search refuses a response that is no list', async () => {
  const errors = [{ message: 'The response cannot be read: payments is missing or malformed' }];
  await expect(collect(searchIn({ body: {} }).client.searchPayments('A'))).rejects.toMatchObject({ errors });
});
