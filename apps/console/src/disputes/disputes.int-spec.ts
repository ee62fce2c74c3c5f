import { randomUUID } from 'node:crypto';
import type { PaymentSnapshot, Role } from '@svc/contracts';
import { disputeOf, planOf } from '@svc/testing';
import {
  createMerchant,
  newPayment,
  startConsole,
  store,
  type TestConsole,
  type TestMerchant,
  withOrder,
} from '../../test/console.js';
import { findDisputesToAnswer, listDisputes } from './list-disputes.query.js';

/** The time of the test's clock is 10:00 UTC on this day, 12:00 in Johannesburg. */
const TODAY = '2026-03-01';

let app: TestConsole;
let merchant: TestMerchant;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());
beforeEach(async () => {
  merchant = await createMerchant(app);
});

const path = (query = '', mode = 'test'): string => `/${merchant.merchantId}/${mode}/disputes${query}`;
/** The order numbers of the rows, in the order of the page. */
const ordersOf = (html: string): string[] =>
  [...html.matchAll(/class="order"[^>]*>([^<]+)</g)].map(([, order]) => order!);
const findNext = (html: string): string | undefined =>
  /href="([^"]+)">More disputes</.exec(html)?.[1]?.replaceAll('&amp;', '&');

type DisputeChanges = NonNullable<Parameters<typeof disputeOf>[1]>;

/** Stores a payment of this order with a dispute. A deadline of `undefined` is none. */
async function dispute(
  order: string,
  { respondByUTCDate, ...changes }: DisputeChanges = {},
  payment: Partial<PaymentSnapshot> = {},
): Promise<PaymentSnapshot> {
  const paid = withOrder(newPayment(merchant, new Date('2026-02-20T09:00:00Z'), payment), order);
  const event = disputeOf(paid, changes);
  const { respondByUTCDate: _, ...withoutDeadline } = event.payload.dispute;
  const shown = respondByUTCDate === undefined ? withoutDeadline : { ...withoutDeadline, respondByUTCDate };
  await store(app, paid);
  await app.deliver({ ...event, payload: { ...event.payload, dispute: shown } });
  return paid;
}

test('open disputes come with the nearest deadline first, those without a deadline last, with the days left in words', async () => {
  await dispute('no deadline', { stage: 'inquiry', reason: '' });
  await dispute('in two weeks', { respondByUTCDate: '2026-03-15T10:00:00.000Z', stage: 'opened' });
  await dispute('overdue', { respondByUTCDate: '2026-03-01T09:59:59.000Z', amount: 123_456 });
  await dispute('today', { respondByUTCDate: '2026-03-01T21:59:00.000Z' });
  await dispute('tomorrow', { respondByUTCDate: '2026-03-01T22:00:00.000Z' });
  await dispute('won', { stage: 'won' });
  const { status, html, text } = await app.signIn([merchant.grant('support')]).get(path());
  expect([status, ordersOf(html)]).toEqual([200, ['overdue', 'today', 'tomorrow', 'in two weeks', 'no deadline']]);
  const fraud = '10.4 Other Fraud-Card Absent Environment amount deducted R 23.45';
  for (const row of [
    '2026-03-01 11:59 Overdue: the time to answer has passed overdue Shop 1 10.4 Other Fraud-Card Absent Environment amount deducted R 1 234.56',
    `2026-03-01 23:59 today today Shop 1 ${fraud}`,
    `2026-03-02 00:00 1 day left tomorrow Shop 1 ${fraud}`,
    '2026-03-15 12:00 14 days left in two weeks Shop 1 10.4 Other Fraud-Card Absent Environment announced R 23.45',
    'No answer is needed now. no deadline Shop 1 The bank gave no reason. the bank asks a question R 23.45',
  ])
    expect(text).toContain(row);
  expect(text).toContain('in the customer area of your card acquirer');
});

test('the page of a payment shows its disputes only to a person with the right', async () => {
  const { paymentReference } = await dispute('order', { amount: 123_456 });
  const open = async (role: Role) =>
    (await app.signIn([merchant.grant(role)]).get(`/${merchant.merchantId}/test/payments/${paymentReference}`)).text;
  expect(await open('support')).toContain('R 1 234.56');
  const text = await open('developer');
  expect([text.includes('Payment received'), text.includes('R 1 234.56'), text.includes('Dispute')]).toEqual([
    true,
    false,
    false,
  ]);
});

test('decided disputes are on a list of their own, the newest first', async () => {
  await dispute('open', { respondByUTCDate: '2026-03-15T10:00:00.000Z' });
  await dispute('lost before', { stage: 'lost', createdUTCDate: '2026-02-01T10:00:00.000Z' });
  await dispute('won after', { stage: 'won', createdUTCDate: '2026-02-02T10:00:00.000Z' });
  const { html, text } = await app.signIn([merchant.grant('finance')]).get(path('?state=closed'));
  expect(ordersOf(html)).toEqual(['won after', 'lost before']);
  expect(text).toContain('2026-02-02 12:00 won after Shop 1 10.4 Other Fraud-Card Absent Environment won R 23.45');
});

test('each page continues the one before, also among disputes with the same deadline and without one', async () => {
  const deadlines = [`${TODAY}T12:00:00.000Z`, undefined];
  const orders = Array.from({ length: 110 }, (_, nth) => `order-${nth}`);
  const changes = (nth: number): DisputeChanges => {
    const respondByUTCDate = deadlines[Math.floor(nth / 60)];
    return {
      disputeReference: randomUUID().replace(/^.{8}/, nth.toString(16).padStart(8, '0')),
      ...(respondByUTCDate === undefined ? {} : { respondByUTCDate }),
    };
  };
  for (const [nth, order] of orders.entries()) await dispute(order, changes(nth));
  const browser = app.signIn([merchant.grant('owner')]);
  const pages = [(await browser.get(path())).html];
  for (let next = findNext(pages[0]!); next !== undefined; next = findNext(pages.at(-1)!))
    pages.push((await browser.get(next)).html);
  expect(pages.map((html) => ordersOf(html).length)).toEqual([50, 50, 10]);
  expect(pages.flatMap(ordersOf)).toEqual(orders);
});

test('a person with a role at one site sees only its disputes; another site, mode and merchant show nothing', async () => {
  await dispute('first', { respondByUTCDate: '2026-03-15T10:00:00.000Z' });
  await dispute('second', { respondByUTCDate: '2026-03-16T10:00:00.000Z' }, { siteId: merchant.sites[1] });
  await dispute('live', { respondByUTCDate: '2026-03-17T10:00:00.000Z' }, { mode: 'live' });
  const owner = app.signIn([merchant.grant('owner')]);
  const listed = async (browser: typeof owner, query = '', mode = 'test') =>
    ordersOf((await browser.get(path(query, mode))).html);
  expect(await listed(owner)).toEqual(['first', 'second']);
  expect(await listed(owner, '', 'live')).toEqual(['live']);
  expect(await listed(owner, `?site=${merchant.sites[1]}`)).toEqual(['second']);
  const other = await createMerchant(app);
  const support = app.signIn([merchant.grant('support', merchant.sites[1]), other.grant('owner')]);
  expect(await listed(support)).toEqual(['second']);
  expect(await listed(support, `?site=${merchant.sites[0]}`)).toEqual([]);
  expect(ordersOf((await support.get(`/${other.merchantId}/test/disputes`)).html)).toEqual([]);
  expect((await app.signIn([other.grant('owner')]).get(path())).status).toBe(404);
  expect((await app.signIn([merchant.grant('developer')]).get(path())).status).toBe(403);
});

test('an empty list says what would be there', async () => {
  const browser = app.signIn([merchant.grant('finance')]);
  expect((await browser.get(path())).text).toContain('No open disputes. When a payer disputes a payment');
  expect((await browser.get(path('?state=closed'))).text).toContain('No decided disputes here.');
});

describe('the page of today', () => {
  const today = (roles = [merchant.grant('owner')], mode = 'test') =>
    app.signIn(roles).get(`/${merchant.merchantId}/${mode}`);

  test('leads to the disputes whose deadline is in the future, by the nearest one', async () => {
    expect((await today()).text).not.toContain('to answer');
    await dispute('due', { respondByUTCDate: '2026-03-16T10:00:00.000Z' });
    expect((await today()).text).toContain('1 dispute to answer, by 2026-03-16 12:00');
    await dispute('due first', { respondByUTCDate: '2026-03-15T10:00:00.000Z' });
    await dispute('overdue', { respondByUTCDate: `${TODAY}T10:00:00.000Z` });
    await dispute('no deadline');
    await dispute('lost', { stage: 'lost' });
    await dispute('live', { respondByUTCDate: '2026-03-14T10:00:00.000Z' }, { mode: 'live' });
    const { html, text } = await today();
    expect(text).toContain('2 disputes to answer, the first by 2026-03-15 12:00');
    expect(html).toContain(`href="/${merchant.merchantId}/test/disputes"`);
    expect((await today(undefined, 'live')).text).toContain('1 dispute to answer, by 2026-03-14 12:00');
  });

  test('shows a person only the disputes of the sites at which the person may see them', async () => {
    await dispute('first', { respondByUTCDate: '2026-03-15T10:00:00.000Z' });
    expect((await today([merchant.grant('developer')])).text).not.toContain('to answer');
    const [first, second] = merchant.sites;
    const roles = [merchant.grant('developer', first), merchant.grant('support', second)];
    expect((await today(roles)).text).not.toContain('to answer');
    expect((await today([merchant.grant('support', first)])).text).toContain('1 dispute to answer');
  });
});

test('a dispute that is decided leaves the list of open ones; an older version changes nothing', async () => {
  const paid = await dispute('order', { respondByUTCDate: '2026-03-15T10:00:00.000Z' });
  const reference = randomUUID();
  const { respondByUTCDate: _, ...decided } = disputeOf(paid, { disputeReference: reference }).payload.dispute;
  const won = disputeOf(paid, { disputeReference: reference }, 3);
  await app.deliver({ ...won, payload: { ...won.payload, dispute: { ...decided, stage: 'won' } } });
  await app.deliver(disputeOf(paid, { disputeReference: reference }, 2));
  const browser = app.signIn([merchant.grant('owner')]);
  expect([
    ordersOf((await browser.get(path())).html),
    ordersOf((await browser.get(path('?state=closed'))).html),
  ]).toEqual([['order'], ['order']]);
});

test('rows of a generation that does not serve are not shown', async () => {
  await dispute('order', { respondByUTCDate: '2026-03-15T10:00:00.000Z' });
  for (const table of ['disputes', 'payments'])
    for (const difference of [-1, 1])
      await app.superuser.query(
        `INSERT INTO ${table} SELECT (jsonb_populate_record(t, jsonb_build_object('generation', generation + ${difference}))).*
           FROM ${table} t WHERE merchant_id = $1 AND generation = (SELECT generation FROM generations WHERE state = 'serving')`,
        [merchant.merchantId],
      );
  const browser = app.signIn([merchant.grant('owner')]);
  expect(ordersOf((await browser.get(path())).html)).toEqual(['order']);
  expect((await browser.get(`/${merchant.merchantId}/test`)).text).toContain('1 dispute to answer');
});

test.each([
  ['open', 'disputes_undecided'],
  ['closed', 'disputes_newest'],
] as const)('the list of %s disputes is read in the order of the index %s', async (state, index) => {
  const scope = { merchantId: merchant.merchantId, mode: 'test', sites: 'all' } as const;
  const plan = await planOf(app.dataSource, () =>
    listDisputes(app.dataSource, { scope, state, siteId: undefined, after: undefined, limit: 51 }),
  );
  expect(plan).toMatch(new RegExp(`using ${index} on disputes`));
  expect(plan).not.toMatch(/Seq Scan on (disputes|payments)|Sort /);
});

test('the disputes to answer are read by the index of the open ones', async () => {
  const scope = { merchantId: merchant.merchantId, mode: 'test', sites: 'all' } as const;
  const plan = await planOf(app.dataSource, () => findDisputesToAnswer(app.dataSource, scope, new Date()));
  expect(plan).toMatch(/using disputes_undecided on disputes/);
  expect(plan).not.toMatch(/Seq Scan on disputes|Sort /);
});
