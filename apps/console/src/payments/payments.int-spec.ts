import { randomUUID } from 'node:crypto';
import { ConsoleAdministeredV1, PaymentReversedV1 } from '@svc/contracts';
import { anEvent, refundOf, waitUntil } from '@svc/testing';
import {
  createMerchant,
  newPayment,
  startConsole,
  store,
  type TestConsole,
  type TestMerchant,
  withOrder,
} from '../../test/console.js';
import { LiveLists } from '../live-lists/live-lists.js';

let app: TestConsole;
let merchant: TestMerchant;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());
beforeEach(async () => {
  merchant = await createMerchant(app);
});

const at = (time: string): Date => new Date(`2026-03-01T${time}Z`);
const listPath = (query = ''): string => `/${merchant.merchantId}/test/payments${query}`;
/** The order numbers of the rows, in the order of the page. */
const ordersOf = (html: string): string[] =>
  [...html.matchAll(/class="order"[^>]*>([^<]+)</g)].map(([, order]) => order!);

test('the list shows payments with the merchant’s own time, newest first, 50 on a page, and every page continues the one before', async () => {
  const payments = Array.from({ length: 120 }, (_, index) =>
    withOrder(newPayment(merchant, new Date(at('08:00:00').getTime() + index * 60_000)), `order-${index}`),
  );
  await store(app, ...payments);
  const browser = app.signIn([merchant.grant('support')]);
  const first = await browser.get(listPath());
  expect(first.status).toBe(200);
  expect(first.text).toContain('2026-03-01 11:59 order-119 Shop 1 **** 4242 Paid R 123.45');
  const pages = [first.html];
  for (let next = findOlder(first.html); next !== undefined; next = findOlder(pages.at(-1)!))
    pages.push((await browser.get(next)).html);
  expect(pages.map((html) => ordersOf(html).length)).toEqual([50, 50, 20]);
  expect(pages.flatMap(ordersOf)).toEqual(Array.from({ length: 120 }, (_, index) => `order-${119 - index}`));
});
const findOlder = (html: string): string | undefined =>
  /href="([^"]+)">Older payments</.exec(html)?.[1]?.replaceAll('&amp;', '&');

describe('the search box finds a payment', () => {
  const ORDER = 'INV 2026/17';
  it.each([
    ['its order number', ORDER],
    ['its order number in capitals', ORDER.toUpperCase()],
    ['its session', 'payable'],
    ['its code', '55555555550000000001'],
    ['the last digits of the card', '7777'],
    ['the mask of the card', '**** 7777'],
    ['its amount', 'R 4 321.09'],
    ['its amount with a decimal comma', '4321,09'],
    ['its reference', 'reference'],
    ['its reference in small letters', 'reference in small letters'],
    ['the customer', 'Thandi Nkosi'],
  ])('by %s', async (_, text) => {
    const payment = newPayment(merchant, at('10:00:00'), { amount: 432_109, paymentMethodLabel: '**** 7777' });
    const wanted = withOrder(payment, ORDER);
    const { payableId } = wanted.payable;
    const found = {
      ...wanted,
      source: { ...wanted.source, code: '55555555550000000001' },
      partner: { organisationId: randomUUID(), customer: { id: 'c', firstName: 'Thandi', lastName: 'Nkosi' } },
    };
    await store(app, found, withOrder(newPayment(merchant, at('11:00:00')), 'another'));
    const search: Record<string, string> = {
      payable: payableId,
      reference: found.paymentReference,
      'reference in small letters': found.paymentReference.toLowerCase(),
    };
    const query = `?q=${encodeURIComponent(search[text] ?? text)}`;
    expect(ordersOf((await app.signIn([merchant.grant('owner')]).get(listPath(query))).html)).toEqual([ORDER]);
  });

  it('by the beginning of the order number, if no whole text matches; a beginning is not a pattern', async () => {
    await store(
      app,
      withOrder(newPayment(merchant, at('09:00:00')), 'KCR-4101'),
      withOrder(newPayment(merchant, at('10:00:00')), 'kcr-4102'),
      withOrder(newPayment(merchant, at('11:00:00'), { siteId: merchant.sites[1] }), 'KCR-4103'),
      withOrder(newPayment(merchant, at('12:00:00')), 'KCR-41'),
      withOrder(newPayment(merchant, at('13:00:00')), 'XKCR-41'),
    );
    const owner = app.signIn([merchant.grant('owner')]);
    const find = async (text: string, browser = owner): Promise<string[]> =>
      ordersOf((await browser.get(listPath(`?q=${encodeURIComponent(text)}`))).html);
    expect(await find('Kcr-410')).toEqual(['KCR-4103', 'kcr-4102', 'KCR-4101']);
    expect(await find('KCR-410', app.signIn([merchant.grant('owner', merchant.sites[0])]))).toEqual([
      ...['kcr-4102', 'KCR-4101'],
    ]);
    expect(await find('KCR-41')).toEqual(['KCR-41']);
    for (const text of ['KC', 'KCR%', 'KCR_4', '410']) expect([text, await find(text)]).toEqual([text, []]);
  });

  it('by the beginning of the order number on every page and in the CSV, but never after whole matches', async () => {
    const payments = (order: (index: number) => string, hour: string): ReturnType<typeof newPayment>[] =>
      Array.from({ length: 51 }, (_, index) =>
        withOrder(newPayment(merchant, new Date(at(hour).getTime() + index * 1_000)), order(index)),
      );
    await store(app, ...payments((index) => `P-4100-${index}`, '09:00:00'));
    const owner = app.signIn([merchant.grant('owner')]);
    const first = await owner.get(listPath('?q=p-4100'));
    expect(ordersOf(first.html)).toHaveLength(50);
    expect(ordersOf((await owner.get(findOlder(first.html)!)).html)).toEqual(['P-4100-0']);
    expect((await owner.get(listPath('.csv?q=p-4100'))).html.trimEnd().split('\r\n')).toHaveLength(52);
    await store(app, withOrder(newPayment(merchant, at('10:00:00')), 'P-4100'));
    expect(ordersOf((await owner.get(findOlder(first.html)!)).html)).toEqual([]);
    expect(ordersOf((await owner.get(listPath('?q=p-4100'))).html)).toEqual(['P-4100']);
  });

  it('by the beginning of the order number only the payments of this merchant and mode', async () => {
    const other = await createMerchant(app);
    await store(
      app,
      withOrder(newPayment(other, at('09:00:00')), 'OWN-1'),
      withOrder(newPayment(merchant, at('10:00:00'), { mode: 'live' }), 'OWN-2'),
    );
    expect(ordersOf((await app.signIn([merchant.grant('owner')]).get(listPath('?q=own-'))).html)).toEqual([]);
  });

  it('and nothing for a text that no database stores', async () => {
    const { status, html } = await app.signIn([merchant.grant('owner')]).get(listPath('?q=order%00'));
    expect([status, ordersOf(html)]).toEqual([200, []]);
  });

  it('and says what can be searched when nothing matches', async () => {
    const { text } = await app.signIn([merchant.grant('owner')]).get(listPath('?q=%3Cb%3E'));
    expect(text).toContain('Nothing matches “&lt;b>”');
  });
});

test('filters by site, state, method and the merchant’s days select payments', async () => {
  const [, second] = merchant.sites;
  await store(
    app,
    // 22:30 UTC is half past midnight in Johannesburg.
    withOrder(newPayment(merchant, new Date('2026-02-28T22:30:00Z')), 'first'),
    withOrder(newPayment(merchant, at('09:00:00'), { siteId: second }), 'other-site'),
    withOrder(newPayment(merchant, at('10:00:00'), { state: 'failed', processedAmount: 0 }), 'failed'),
    withOrder(newPayment(merchant, at('22:00:00')), 'next-day'),
  );
  const browser = app.signIn([merchant.grant('owner')]);
  const list = async (query: string): Promise<string[]> => ordersOf((await browser.get(listPath(query))).html);
  expect(await list(`?site=${second}`)).toEqual(['other-site']);
  expect(await list('?state=failed')).toEqual(['failed']);
  expect(await list('?method=Voucher')).toEqual([]);
  expect(await list('?from=2026-03-01&to=2026-03-01')).toEqual(['failed', 'other-site', 'first']);
  expect(await list('?to=2026-02-28')).toEqual([]);
  expect(await list('?from=2026-03-02')).toEqual(['next-day']);
});

test('a person of one site sees no payment of another site, also not by its address or a search', async () => {
  const [first, second] = merchant.sites;
  const other = withOrder(newPayment(merchant, at('10:00:00'), { siteId: second }), 'secret');
  await store(app, withOrder(newPayment(merchant, at('09:00:00')), 'mine'), other);
  const browser = app.signIn([merchant.grant('owner', first)]);
  expect(ordersOf((await browser.get(listPath())).html)).toEqual(['mine']);
  expect(ordersOf((await browser.get(listPath(`?site=${second}`))).html)).toEqual([]);
  expect(ordersOf((await browser.get(listPath('?q=secret'))).html)).toEqual([]);
  expect((await browser.get(listPath(`/${other.paymentReference}`))).status).toBe(404);
  const csv = await browser.get(listPath('.csv'));
  expect([csv.html.includes('mine'), csv.html.includes('secret')]).toEqual([true, false]);
});

test('and live payments are never in one list', async () => {
  await store(
    app,
    withOrder(newPayment(merchant, at('09:00:00')), 'test-order'),
    withOrder(newPayment(merchant, at('09:00:00'), { mode: 'live' }), 'live-order'),
  );
  const browser = app.signIn([merchant.grant('owner')]);
  expect(ordersOf((await browser.get(listPath())).html)).toEqual(['test-order']);
  const live = await browser.get(`/${merchant.merchantId}/live/payments`);
  expect(ordersOf(live.html)).toEqual(['live-order']);
  expect([live.text.includes('Test mode'), live.html.includes('mode-live')]).toEqual([false, true]);
});

describe('the name of a customer', () => {
  const partner = { organisationId: randomUUID(), customer: { id: 'c', firstName: 'Thandi', lastName: 'Nkosi' } };
  const audited = async () =>
    (await app.published(ConsoleAdministeredV1))
      .map(({ payload }) => payload)
      .filter(({ merchantId }) => merchantId === merchant.merchantId);
  let reference: string;
  beforeEach(async () => {
    const payment = withOrder(newPayment(merchant, at('09:00:00'), { partner }), 'order');
    reference = payment.paymentReference;
    await store(app, payment, withOrder(newPayment(merchant, at('10:00:00')), 'other'));
  });

  it('is in no list and on no page, and nothing of it is in the audit log before a person asks for it', async () => {
    const owner = app.signIn([merchant.grant('owner')]);
    for (const path of [listPath(), listPath(`/${reference}`), `/${merchant.merchantId}/test`])
      expect((await owner.get(path)).html).not.toContain('Nkosi');
    expect(await audited()).toEqual([]);
  });

  it('is not searched for a developer', async () => {
    const developer = app.signIn([merchant.grant('developer')]);
    expect(ordersOf((await developer.get(listPath('?q=Thandi+Nkosi'))).html)).toEqual([]);
    expect(await audited()).toEqual([]);
  });

  it('can be searched, with one entry for each page that was found, without the name', async () => {
    const support = app.signIn([merchant.grant('support')]);
    expect(ordersOf((await support.get(listPath('?q=thandi+nkosi'))).html)).toEqual(['order']);
    const entries = await audited();
    expect(entries).toEqual([
      {
        action: 'customer.searched',
        actor: `person:${support.person.personId}`,
        requestId: expect.any(String) as string,
        merchantId: merchant.merchantId,
        after: { mode: 'test', paymentReferences: [reference] },
      },
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/nkosi/i);
    await support.get(listPath('?q=order'));
    expect(await audited()).toHaveLength(1);
  });

  it('is searched by the stream of a list with an entry too, once', async () => {
    const live = app.service.app.get(LiveLists);
    const response = app.signIn([merchant.grant('support')]).get(listPath('/live?q=thandi+nkosi'));
    await waitUntil('the entry of the stream', 10_000, async () => (await live.tick(), (await audited()).length > 0));
    await store(app, newPayment(merchant, at('11:00:00')));
    await live.tick();
    live.onModuleDestroy();
    expect((await response).html).toContain('order');
    expect(await audited()).toMatchObject([{ action: 'customer.searched', after: { paymentReferences: [reference] } }]);
  });

  it('can be searched and downloaded by a person of one site, for that site alone', async () => {
    const [first, second] = merchant.sites;
    const other = withOrder(newPayment(merchant, at('08:00:00'), { partner, siteId: second }), 'elsewhere');
    await store(app, other);
    const finance = app.signIn([merchant.grant('finance', first)]);
    const { html } = await finance.get(listPath('?q=thandi+nkosi'));
    expect([ordersOf(html), html.includes('Download CSV')]).toEqual([['order'], true]);
    expect((await finance.get(listPath('.csv'))).html.match(/Thandi Nkosi/g)).toHaveLength(1);
    expect((await audited()).map(({ action }) => action)).toEqual(['customer.searched', 'customers.exported']);
    // The list of this person also has payments whose customers the person may not see.
    const mixed = app.signIn([merchant.grant('finance', first), merchant.grant('developer', second)]);
    expect(ordersOf((await mixed.get(listPath('?q=thandi+nkosi'))).html)).toEqual([]);
    expect((await app.signIn([merchant.grant('support', first)]).get(listPath())).html).not.toContain('Download CSV');
  });

  it('is in the CSV, with one entry', async () => {
    const finance = app.signIn([merchant.grant('finance')]);
    expect((await finance.get(listPath('.csv'))).html).toContain('Thandi Nkosi');
    expect(await audited()).toMatchObject([
      {
        action: 'customers.exported',
        actor: `person:${finance.person.personId}`,
        after: { mode: 'test', isSearch: false },
      },
    ]);
  });
});

test('the CSV has cents and Rand as numbers, the merchant’s time, and formulas as text', async () => {
  await store(app, withOrder(newPayment(merchant, at('22:30:00')), '=1+1'));
  const { headers, html } = await app.signIn([merchant.grant('finance')]).get(listPath('.csv'));
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  const [header, line] = html.split('\r\n');
  expect(header).toBe(
    '\uFEFFtime,utcTime,paymentReference,order,site,till,state,method,card,currency,amountCents,amount,tipCents,chargedCents,refundedCents,customer',
  );
  expect(line).toMatch(
    /^2026-03-02 00:30,2026-03-01T22:30:00.000Z,\w{18},'=1\+1,Shop 1,SITE-1,success,Card,\*\*\*\* 4242,ZAR,12345,123.45,0,12345,0,$/,
  );
});

test('events in any order and twice give the newest state; refunds and reversals are shown', async () => {
  const payment = withOrder(newPayment(merchant, at('09:00:00')), 'order');
  const refunded = refundOf(payment, { amount: 2_345, status: 'succeeded' });
  await app.deliver(refunded, refunded);
  await store(app, payment);
  await app.deliver(
    anEvent(PaymentReversedV1, randomUUID(), 1, { ...payment, reversedUTCDate: '2026-03-01T09:30:00.000Z' }),
  );
  const browser = app.signIn([merchant.grant('owner')]);
  expect((await browser.get(listPath())).text).toContain('Paid R 123.45 R 23.45 given back');
  const { text } = await browser.get(listPath(`/${payment.paymentReference}`));
  for (const shown of ['Refund paid: R 23.45', 'A late approval was reversed', 'R 100.00 can still be given back.'])
    expect(text).toContain(shown);
});
