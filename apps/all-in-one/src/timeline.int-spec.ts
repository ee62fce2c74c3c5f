/**
 * The timeline of a payment for operators, from the records of all services: a session whose first payment was declined,
 * whose webhook failed once, and which was refunded; an invoice that was paid by its QR code; and what has no payment.
 */
import { randomUUID } from 'node:crypto';
import { waitUntil } from '@svc/testing';
import { reportDispute } from '../test/dispute-reports.js';
import { startMainApi } from '../test/main-api.js';
import { DECLINED_CARD, type Entry, type Search, TracedShop } from '../test/traced-shop.js';

const ORDER = 'INV 2026/17';
const SECOND = 1_000;

let shop: TracedShop;
let session: { readonly sessionId: string; readonly requestId: string };
let code: string;
let [declined, paid] = ['', ''];
let refundReference: string;
beforeAll(async () => {
  const api = await startMainApi({ hostedGateway: true });
  shop = await TracedShop.open(api);
  session = await shop.createSession(ORDER);
  const page = `/pay?sessionId=${session.sessionId}`;
  code = await api.findSessionCode(session.sessionId);
  api.clock.advance(5 * SECOND);
  await shop.pay(page, session.sessionId, 1, DECLINED_CARD);
  api.clock.advance(30 * SECOND);
  await shop.pay(page, session.sessionId, 2);
  const { matches } = await shop.findWhen(ORDER, (search) => search.matches.length === 2);
  declined = matches.find(({ state }) => state === 'failed')!.reference;
  paid = matches.find(({ state }) => state === 'success')!.reference;
  // The first webhook of the paid payment fails. The declined one is superseded.
  shop.answerWith(500);
  await shop.sendNotifications();
  api.clock.advance(10 * SECOND);
  await shop.sendNotifications();
  api.clock.advance(60 * SECOND);
  refundReference = await shop.refund(paid, 2_345, 'One mug was broken');
  await reportDispute(api, { paymentReference: paid, disputeReference: 'dispute-17', kind: 'opened', amount: 10_000 });
  // Events arrive some time after they are relayed.
  await waitUntil('all notifications', 20_000, async () => {
    await shop.sendNotifications();
    const { timeline } = await shop.find(paid);
    return timeline?.entries.filter(({ event }) => event === 'notification attempt 1').length === 4;
  });
});
afterAll(async () => {
  await shop?.close();
  await shop?.api.stop();
});

const eventsOf = (search: Search): string[] =>
  search.timeline?.entries.map(({ service, event }) => `${service}: ${event}`) ?? [];
/** @param fact name and value of a detail */
const getEntry = (search: Search, event: string, fact?: string): Entry => {
  const entry = search.timeline?.entries.find(
    (each) => each.event === event && (fact === undefined || each.details.some((d) => `${d.name} ${d.value}` === fact)),
  );
  if (!entry) throw new Error(`There is no entry "${event}" in:\n${eventsOf(search).join('\n')}`);
  return entry;
};
const factsOf = (entry: Entry): Record<string, string> =>
  Object.fromEntries(entry.details.map(({ name, value }) => [name, value]));

test('a payment is found by its reference, in either case, with every step in the order of time', async () => {
  const search = await shop.find(paid.toLowerCase());
  expect(search.matches).toEqual([
    expect.objectContaining({
      ...{ kind: 'payment', reference: paid, state: 'success', amount: 12_345, currencyISOCode: 'ZAR', mode: 'test' },
      ...{ orderReference: ORDER, merchantName: 'merchant 1', siteName: 'site 1', payableId: session.sessionId, code },
    }),
  ]);
  expect([search.missing, search.timeline!.missing]).toEqual([[], []]);
  const [webhooks, others] = [/^webhook-dispatcher: /, /^(?!webhook-dispatcher: )/].map((pattern) =>
    eventsOf(search).filter((event) => pattern.test(event)),
  );
  expect(others).toEqual([
    'hosted-gateway: session created',
    'console: other payment of the session',
    'payment-processor: payment accepted',
    'payment-processor: acquirer called',
    'payment-processor: acquirer approved',
    'payment-processor: payment succeeded',
    'payment-processor: refund requested',
    'payment-processor: refund succeeded',
    'payment-processor: dispute opened',
  ]);
  // The session and the site are notified of the payment, only the site of the refund and the dispute.
  expect(webhooks!.toSorted()).toEqual([
    ...Array<string>(4).fill('webhook-dispatcher: notification attempt 1'),
    'webhook-dispatcher: notification attempt 2',
    'webhook-dispatcher: notification of the dispute recorded',
    ...Array<string>(2).fill('webhook-dispatcher: notification of the payment recorded'),
    'webhook-dispatcher: notification of the refund recorded',
  ]);
  const times = search.timeline!.entries.map(({ utcDate }) => utcDate);
  expect(times).toEqual(times.toSorted());
  for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('the steps name the merchant’s request, the acquirer’s answer, the refund with its reason, and the dispute', async () => {
  const search = await shop.find(paid);
  expect(getEntry(search, 'session created')).toMatchObject({ amount: 12_345, requestId: session.requestId });
  expect(factsOf(getEntry(search, 'other payment of the session'))).toMatchObject({
    payment: declined,
    state: 'failed',
  });
  expect(factsOf(getEntry(search, 'acquirer called'))).toMatchObject({
    ...{ acquirer: 'simulated', account: expect.any(String), 'idempotency key': expect.any(String) },
  });
  expect(factsOf(getEntry(search, 'acquirer approved'))).toMatchObject({ reference: expect.any(String) });
  const refund = getEntry(search, 'refund requested');
  expect(refund.amount).toBe(2_345);
  expect(factsOf(refund)).toMatchObject({ reason: 'One mug was broken', refund: refundReference });
  expect(getEntry(search, 'refund succeeded').amount).toBe(2_345);
  expect(getEntry(search, 'dispute opened').amount).toBe(10_000);
});

test('each attempt of a notification has its status and the beginning of the answer, but no secret of the URL', async () => {
  const search = await shop.find(paid);
  const failed = getEntry(search, 'notification attempt 1', 'status 500');
  expect(factsOf(failed)).toMatchObject({ response: 'the shop is being deployed', 'took ms': expect.any(String) });
  const delivered = getEntry(search, 'notification attempt 2', 'status 200');
  expect(Date.parse(delivered.utcDate) - Date.parse(failed.utcDate)).toBe(10 * SECOND);
  expect(JSON.stringify(search)).not.toContain('of-the-shop');
});

test('a declined payment shows the answer of the bank', async () => {
  const search = await shop.find(declined);
  const facts = factsOf(getEntry(search, 'acquirer declined'));
  expect(facts).toMatchObject({ reference: expect.any(String), code: 'declined' });
  expect(factsOf(getEntry(search, 'payment failed'))['errors']).toMatch(/declined/i);
});

test.each<[string, () => Promise<Search>]>([
  ['its order number in any case', () => shop.find(ORDER.toLowerCase())],
  ['its session', () => shop.find(session.sessionId.toUpperCase())],
  ['its code', () => shop.find(code)],
  ['the address of its code', () => shop.find(`https://pay.example/c/${code}`)],
])('both payments are found by %s, and listed without a timeline', async (_, find) => {
  const { matches, timeline, hasMore } = await find();
  expect(matches.map(({ reference }) => reference)).toEqual([paid, declined]);
  expect([timeline, hasMore]).toEqual([null, false]);
});

test('a payment is found by the end of its card only together with its day and mode', async () => {
  const today = shop.api.clock.nowISO().slice(0, 10);
  const referencesOf = async (find: string, more: Record<string, string>) =>
    (await shop.find(find, more)).matches.map(({ reference }) => reference);
  expect(await referencesOf('4242', { day: today })).toContain(paid);
  expect(await referencesOf('0002', { day: today, mode: 'test' })).toEqual([declined]);
  expect(await referencesOf('0002', { day: today, mode: 'live' })).toEqual([]);
  expect(await referencesOf('0002', { day: '2020-01-01' })).toEqual([]);
  expect(await referencesOf('0002', {})).toEqual([]);
});

test('the day and the mode also narrow the other searches', async () => {
  expect((await shop.find(paid, { day: '2020-01-01' })).matches).toEqual([]);
  expect((await shop.find(session.sessionId, { mode: 'live' })).matches).toEqual([]);
});

test('a payment by QR code begins with the invoice of the till', async () => {
  const invoice = await shop.merchants.createInvoice();
  await shop.pay(`/c/${invoice.code}`, invoice.reference, 1);
  const search = await shop.findWhen(invoice.code, ({ matches }) => matches[0]?.state === 'success');
  expect(eventsOf(search).slice(0, 3)).toEqual([
    'code-decoder: invoice created',
    'payment-processor: payment accepted',
    'payment-processor: acquirer called',
  ]);
  expect(factsOf(getEntry(search, 'invoice created'))).toMatchObject({ till: 'TILL-1', origin: 'Karoo POS' });
  expect((await shop.find(invoice.reference)).matches).toEqual(search.matches);
});

test('a session and an invoice without a payment are found by their id and code', async () => {
  const unpaid = await shop.createSession('order-unpaid');
  const invoice = await shop.merchants.createInvoice();
  const byId = await shop.find(unpaid.sessionId);
  expect(byId.matches).toEqual([
    expect.objectContaining({
      kind: 'session',
      reference: unpaid.sessionId,
      state: 'open',
      merchantName: 'merchant 1',
    }),
  ]);
  expect(eventsOf(byId)).toEqual(['hosted-gateway: session created']);
  expect((await shop.find(await shop.api.findSessionCode(unpaid.sessionId))).matches).toEqual(byId.matches);
  for (const find of [invoice.reference, invoice.code]) {
    const found = await shop.find(find);
    expect(found.matches).toEqual([expect.objectContaining({ kind: 'invoice', reference: invoice.reference })]);
    expect(eventsOf(found)).toEqual(['code-decoder: invoice created']);
  }
});

test('an unknown text finds nothing', async () => {
  for (const find of [randomUUID(), '0'.repeat(20), 'no such order'])
    expect(await shop.find(find)).toEqual({ matches: [], hasMore: false, timeline: null, missing: [] });
});
