import { randomUUID } from 'node:crypto';
import type { MerchantPayment, PaymentSnapshot } from '@svc/contracts';
import { paymentEvent } from '@svc/testing';
import { createMerchant, type Merchant, newPaymentAt, type Retrieval, startRetrieval } from '../../test/retrieval.js';

const DAY_MS = 86_400_000;
let retrieval: Retrieval;
let merchant: Merchant;
let otherMerchant: Merchant;
beforeAll(async () => {
  retrieval = await startRetrieval();
  [merchant, otherMerchant] = [await createMerchant(retrieval), await createMerchant(retrieval)];
});
afterAll(() => retrieval.stop());

/** Delivers a payment of this order, `daysAgo` days ago. */
async function deliverPayment(orderId: string, daysAgo: number, overrides: Partial<PaymentSnapshot> = {}) {
  const payment = newPaymentAt(merchant, retrieval.clock.later(-daysAgo * DAY_MS), overrides);
  const source = { ...payment.source, merchantOrderId: orderId } as never;
  await retrieval.deliver(paymentEvent({ ...payment, source }));
  return payment.paymentReference;
}

interface Page {
  readonly status: number;
  readonly link: string | undefined;
  readonly references: string[];
}

async function search(query: string, key = merchant.keys.merchant, merchantId = merchant.merchantId): Promise<Page> {
  const { status, headers, text } = await retrieval.get(`/${merchantId}/payment-search?${query}`, { 'x-api-key': key });
  const link = headers['link'] as string | undefined;
  if (status !== 200) return { status, link, references: [] };
  expect(headers['cache-control']).toBe('no-store');
  return {
    ...{ status, link },
    references: (JSON.parse(text) as MerchantPayment[]).map(({ paymentReference }) => paymentReference),
  };
}
const found = async (...parameters: Parameters<typeof search>) => (await search(...parameters)).references;

test('a search finds the payments of an order in three months, newest first, as the look-ups return them (M9)', async () => {
  const orderId = `Order 1/é ${randomUUID()}`;
  const query = `orderId=${encodeURIComponent(orderId)}`;
  const [oldest, failed, newest] = [
    await deliverPayment(orderId, 80),
    await deliverPayment(orderId, 20, { state: 'failed', processedAmount: 0 }),
    await deliverPayment(orderId, 0),
  ];
  await deliverPayment('another order', 0);
  expect(await found(query)).toEqual([newest, failed, oldest]);
  const get = (path: string) => retrieval.list(`/${merchant.merchantId}${path}`, merchant.keys.merchant);
  expect(await get(`/payment-search?${query}`)).toStrictEqual([
    ...(await get(`/payments/${newest}`)),
    ...(await get(`/payments/${failed}`)),
    ...(await get(`/payments/${oldest}`)),
  ]);
  for (const other of [orderId.toUpperCase(), `${orderId} `, orderId.slice(0, -1)])
    expect(await found(`orderId=${encodeURIComponent(other)}`)).toEqual([]);
});

test('the window is exactly three calendar months, and `from` cannot extend it', async () => {
  const orderId = randomUUID();
  const begin = new Date(retrieval.clock.now());
  begin.setUTCMonth(begin.getUTCMonth() - 3);
  const daysAgo = (retrieval.clock.now().getTime() - begin.getTime()) / DAY_MS;
  const oldest = await deliverPayment(orderId, daysAgo);
  for (const query of [`orderId=${orderId}`, `orderId=${orderId}&from=2020-01-01`])
    expect(await found(query)).toEqual([oldest]);
  retrieval.clock.advance(1);
  for (const query of [`orderId=${orderId}`, `orderId=${orderId}&from=2020-01-01`])
    expect(await found(query)).toEqual([]);
});

test('`from` and `to` are days, or times of which `from` is included and `to` is not', async () => {
  const orderId = randomUUID();
  const reference = await deliverPayment(orderId, 10);
  const at = retrieval.clock.later(-10 * DAY_MS);
  const time = (ms: number) => new Date(at.getTime() + ms).toISOString();
  const day = (ms: number) => time(ms).slice(0, 10);
  const isFound = async (times: string) => (await found(`orderId=${orderId}&${times}`)).includes(reference);
  expect(await isFound(`from=${time(0)}&to=${time(1)}`)).toBe(true);
  expect(await isFound(`from=${time(1)}`)).toBe(false);
  expect(await isFound(`to=${time(0)}`)).toBe(false);
  expect(await isFound(`from=${day(0)}&to=${day(0)}`)).toBe(true);
  expect(await isFound(`from=${day(DAY_MS)}`)).toBe(false);
  expect(await isFound(`to=${day(-DAY_MS)}`)).toBe(false);
});

test('pages of 100 contain each payment once, also payments of the same time, and the last page has no link', async () => {
  const orderId = randomUUID();
  const payments = Array.from({ length: 205 }, (_, index) => {
    const payment = newPaymentAt(merchant, retrieval.clock.later(-Math.floor(index / 4) * DAY_MS));
    return { ...payment, source: { ...payment.source, merchantOrderId: orderId } as never };
  });
  await retrieval.deliver(...payments.map((payment) => paymentEvent(payment)));
  const pages: string[][] = [];
  for (let query: string | undefined = `orderId=${orderId}`; query !== undefined;) {
    const page: Page = await search(query);
    pages.push(page.references);
    query = /^<payment-search\?([^<>]+)>; rel="next"$/.exec(page.link ?? '')?.[1];
  }
  expect(pages.map(({ length }) => length)).toEqual([100, 100, 5]);
  const byAge = payments.toSorted(
    (a, b) => b.paymentUTCDate.localeCompare(a.paymentUTCDate) || (a.paymentReference < b.paymentReference ? 1 : -1),
  );
  expect(pages.flat()).toEqual(byAge.map(({ paymentReference }) => paymentReference));
});

test('exactly 100 payments are one page', async () => {
  const orderId = randomUUID();
  const payments = Array.from({ length: 100 }, () => newPaymentAt(merchant, retrieval.clock.now()));
  await retrieval.deliver(
    ...payments.map((payment) =>
      paymentEvent({ ...payment, source: { ...payment.source, merchantOrderId: orderId } as never }),
    ),
  );
  expect(await search(`orderId=${orderId}`)).toMatchObject({ status: 200, link: undefined });
});

test('a key finds only payments of its merchant, its site and its mode (A7)', async () => {
  const orderId = randomUUID();
  const [site1, site2, live] = [
    await deliverPayment(orderId, 2),
    await deliverPayment(orderId, 1, { siteId: merchant.sites[1] }),
    await deliverPayment(orderId, 0, { mode: 'live' }),
  ];
  const query = `orderId=${orderId}`;
  expect(await found(query)).toEqual([site2, site1]);
  expect(await found(query, merchant.keys['site 1'])).toEqual([site1]);
  expect(await found(query, merchant.keys['site 2'])).toEqual([site2]);
  expect(await found(query, merchant.keys.live)).toEqual([live]);
  expect(await found(query, otherMerchant.keys.merchant, otherMerchant.merchantId)).toEqual([]);
  expect((await search(query, otherMerchant.keys.merchant)).status).toBe(403);
  for (const key of [merchant.keys.revoked, 'nonsense']) expect((await search(query, key)).status).toBe(401);
});

test('a cursor of another merchant or order only limits the time of the result', async () => {
  const [orderId, other] = [randomUUID(), randomUUID()];
  const reference = await deliverPayment(orderId, 3);
  await deliverPayment(other, 1);
  const cursor = Buffer.from(`1.${retrieval.clock.now().getTime()}.${reference}`).toString('base64url');
  expect(await found(`orderId=${orderId}&after=${cursor}`)).toEqual([reference]);
  expect(
    await found(`orderId=${orderId}&after=${cursor}`, otherMerchant.keys.merchant, otherMerchant.merchantId),
  ).toEqual([]);
});

test('invalid parameters cause a 400, and a text that no order can have finds nothing (M3)', async () => {
  const path = `/${merchant.merchantId}/payment-search`;
  const headers = { 'x-api-key': merchant.keys.merchant };
  const { status, text } = await retrieval.get(`${path}?from=x&to=y&after=z`, headers);
  expect([status, (JSON.parse(text) as { errors: { field: string }[] }).errors.map(({ field }) => field)]).toEqual([
    400,
    ['orderId', 'from', 'to', 'after'],
  ]);
  for (const unknown of ['%00', '%20', 'a%00b', 'x'.repeat(100)])
    expect(await search(`orderId=${unknown}`)).toEqual({ status: 200, link: undefined, references: [] });
  expect((await retrieval.get('/x/payment-search?orderId=a', headers)).status).toBe(400);
});
