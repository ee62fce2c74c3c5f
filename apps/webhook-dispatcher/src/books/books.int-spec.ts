import {
  DigestNotificationsV1,
  ListNotificationsV1,
  ListNotifiedSitesV1,
  type Mode,
  type PaymentSnapshot,
} from '@svc/contracts';
import { newPaymentReference, newUuidAt } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { anAnonymousPayment, disputeOf, refundOf } from '@svc/testing';
import { DispatcherUnderTest } from '../../test/dispatcher.js';

let dispatcher: DispatcherUnderTest;
let commands: Commands;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  commands = new Commands(dispatcher.test.broker);
});
afterAll(() => dispatcher.test.stop());

const DAY = { from: '2026-03-01T00:00:00.000Z', until: '2026-03-02T00:00:00.000Z' };
const NOON = '2026-03-01T12:00:00.000Z';
let lastId = 9_000;
const WEBHOOK_URL = 'https://shop.example/site';
/** Creates a site, by default of a new merchant. The webhook of the site is enabled. */
const createNotifiedSite = async (merchantId = ++lastId): Promise<{ merchantId: number; siteId: number }> => {
  const site = { merchantId, siteId: ++lastId };
  await dispatcher.deliverSite({ ...site, webhookUrl: WEBHOOK_URL, webhookEnabled: true });
  return site;
};
async function setNotifiedSince({ siteId }: { siteId: number }, notifiedSince: string): Promise<void> {
  const { dataSource } = dispatcher.test;
  // A trigger does not allow a change of `notified_since` while the webhook is enabled.
  await dataSource.query(`UPDATE sites SET webhook_enabled = false, notified_since = NULL WHERE site_id = $1`, [
    siteId,
  ]);
  await dataSource.query(`UPDATE sites SET webhook_enabled = true, notified_since = $2 WHERE site_id = $1`, [
    siteId,
    notifiedSince,
  ]);
}
/** Delivers the event of a payment of a session. Returns its paymentReference. */
async function deliverPaymentAt(paymentUTCDate: string, overrides: Partial<PaymentSnapshot>): Promise<string> {
  const paymentReference = newPaymentReference(new Date());
  await dispatcher.deliverPayments({ ...anAnonymousPayment(), paymentReference, paymentUTCDate, ...overrides });
  return paymentReference;
}
const requestDigests = async (book: string, merchantId: number) =>
  (await commands.request(DigestNotificationsV1, { book, merchantId, ...DAY })).digests;
const requestLines = async (book: string, merchantId: number, mode: Mode = 'test') =>
  (await commands.request(ListNotificationsV1, { book, merchantId, mode, ...DAY })).lines;

/**
 * A book is the list of the notifications that belong to the payments of one day: `notifications` contains the
 * notifications of sessions, `webhooks` contains the notifications of sites. Reconciliation compares the books with the
 * payments. A digest contains the number and the total amount of the notifications of one merchant and mode.
 */
const BOOKS = ['notifications', 'webhooks'];

test.each(BOOKS)(
  'book %s has a digest for each merchant and mode, with the number of pending notifications (open)',
  async (book) => {
    const [site, otherSite] = [await createNotifiedSite(), await createNotifiedSite()];
    const reference = await deliverPaymentAt(NOON, site);
    await deliverPaymentAt(NOON, { ...site, mode: 'live', state: 'failed', processedAmount: 0 });
    await deliverPaymentAt(NOON, otherSite);
    expect(await requestDigests(book, site.merchantId)).toMatchObject([
      { merchantId: site.merchantId, mode: 'live', count: 1, open: 1, amount: 0 },
      { merchantId: site.merchantId, mode: 'test', count: 1, open: 1, amount: book === 'webhooks' ? 13_345 : 12_345 },
    ]);
    expect(await requestLines(book, site.merchantId)).toMatchObject([
      { key: reference, line: { rowReference: reference } },
    ]);
    await dispatcher.test.dataSource.query(
      `UPDATE notifications SET state = 'exhausted', next_attempt_at = NULL WHERE merchant_id = $1`,
      [otherSite.merchantId],
    );
    expect(await requestDigests(book, otherSite.merchantId)).toMatchObject([{ count: 1, open: 0 }]);
  },
);

test.each(BOOKS)(
  'book %s contains a payment on the day on which the payment was accepted, from the first to the last millisecond',
  async (book) => {
    const site = await createNotifiedSite();
    await setNotifiedSince(site, '2026-01-01T00:00:00Z');
    for (const time of ['2026-02-28T23:59:59.999Z', DAY.from, '2026-03-01T23:59:59.999Z', DAY.until])
      await deliverPaymentAt(time, site);
    const lines = await requestLines(book, site.merchantId);
    expect(lines.map(({ line }) => line!['paymentUTCDate']).toSorted()).toEqual([DAY.from, '2026-03-01T23:59:59.999Z']);
  },
);

describe('the notifications of a site', () => {
  const requestNotifiedSites = async (siteId: number) =>
    (await commands.request(ListNotifiedSitesV1, { after: siteId - 1 })).sites.filter((site) => site.siteId === siteId);

  test('are expected from one minute after the webhook was enabled, even if the site changes later', async () => {
    const site = await createNotifiedSite();
    const since = dispatcher.clock.later(60_000).toISOString();
    expect(await requestNotifiedSites(site.siteId)).toEqual([{ ...site, since }]);
    dispatcher.clock.advance(3_600_000);
    await dispatcher.deliverSite({ ...site, webhookUrl: `${WEBHOOK_URL}/new`, webhookEnabled: true }, 2);
    expect(await requestNotifiedSites(site.siteId)).toEqual([{ ...site, since }]);
    await deliverPaymentAt(new Date(Date.parse(since) - 1).toISOString(), site);
    const reference = await deliverPaymentAt(since, site);
    expect((await requestLines('webhooks', site.merchantId)).map(({ key }) => key)).toEqual([reference]);
    expect(await requestLines('notifications', site.merchantId)).toHaveLength(2);
  });

  test('have a row for each change of a dispute, on the day of the change', async () => {
    const site = await createNotifiedSite();
    await setNotifiedSince(site, '2026-01-01T00:00:00Z');
    const payment = { ...anAnonymousPayment(), paymentReference: newPaymentReference(new Date()), ...site };
    const changeReferences: string[] = [];
    for (const time of ['2026-02-28T23:59:59.999Z', DAY.from, '2026-03-01T23:59:59.999Z', DAY.until]) {
      changeReferences.push(newUuidAt(new Date(time)));
      const change = { changeReference: changeReferences.at(-1)!, changedUTCDate: time };
      const dispute = { disputeReference: payment.reference, ...change };
      await dispatcher.test.deliver(disputeOf(payment, dispute, changeReferences.length));
    }
    const lines = await requestLines('webhooks', site.merchantId);
    expect(lines.map(({ key }) => key)).toEqual(
      changeReferences.slice(1, 3).map((changeReference) => `${payment.paymentReference}/${changeReference}`),
    );
    expect(lines[0]!.line).toMatchObject({ type: 'dispute', rowType: 'dispute', dispute: { amount: 2_345 } });
    expect(await requestLines('notifications', site.merchantId)).toEqual([]);
  });

  test('have two rows for a refund whose money came back, each on its day', async () => {
    const site = await createNotifiedSite();
    await setNotifiedSince(site, '2026-01-01T00:00:00Z');
    const payment = { ...anAnonymousPayment(), paymentReference: newPaymentReference(new Date()), ...site };
    const createdUTCDate = '2026-02-28T09:00:00.000Z';
    const refund = { refundReference: newUuidAt(new Date(createdUTCDate)), createdUTCDate };
    await dispatcher.test.deliver(refundOf(payment, refund));
    await dispatcher.test.deliver(refundOf(payment, { ...refund, status: 'failed', returnedUTCDate: NOON }));
    const [returned, ...others] = await requestLines('webhooks', site.merchantId);
    expect(others).toEqual([]);
    expect(returned!.line).toMatchObject({ type: 'refund', refund: { ...refund, status: 'failed' } });
    expect(returned!.key).not.toContain(refund.refundReference);
  });

  test('are in the book of their own site only, if the merchant has several sites with webhooks', async () => {
    const site = await createNotifiedSite();
    const otherSite = await createNotifiedSite(site.merchantId);
    for (const each of [site, otherSite]) await setNotifiedSince(each, '2026-01-01T00:00:00Z');
    const references = [await deliverPaymentAt(NOON, site), await deliverPaymentAt(NOON, otherSite)];
    const lines = await requestLines('webhooks', site.merchantId);
    expect(lines.map(({ key }) => key)).toEqual(references.toSorted());
  });

  test('are not in the book if the site with their site id belongs to another merchant', async () => {
    const site = await createNotifiedSite();
    await setNotifiedSince(site, '2026-01-01T00:00:00Z');
    await deliverPaymentAt(NOON, site);
    expect(await requestLines('webhooks', site.merchantId)).toHaveLength(1);
    await dispatcher.test.dataSource.query(`UPDATE sites SET merchant_id = $2 WHERE site_id = $1`, [
      site.siteId,
      ++lastId,
    ]);
    expect(await requestLines('webhooks', site.merchantId)).toEqual([]);
  });

  test('are expected for sites that are listed in pages', async () => {
    const [first, second] = [await createNotifiedSite(), await createNotifiedSite()];
    const { sites } = await commands.request(ListNotifiedSitesV1, { after: first.siteId });
    expect(sites.map(({ siteId }) => siteId)).toEqual([second.siteId]);
  });

  test('are not expected while the webhook is disabled, and are expected again after the webhook is enabled', async () => {
    const site = await createNotifiedSite();
    await deliverPaymentAt(NOON, site);
    await dispatcher.deliverSite({ ...site, webhookUrl: WEBHOOK_URL, webhookEnabled: false }, 2);
    expect([await requestNotifiedSites(site.siteId), await requestDigests('webhooks', site.merchantId)]).toEqual([
      [],
      [],
    ]);
    dispatcher.clock.advance(60_000);
    await dispatcher.deliverSite({ ...site, webhookUrl: WEBHOOK_URL, webhookEnabled: true }, 3);
    expect(await requestNotifiedSites(site.siteId)).toEqual([
      { ...site, since: dispatcher.clock.later(60_000).toISOString() },
    ]);
  });
});

test('a request for the digests of an unknown book is rejected', async () => {
  await expect(requestDigests('history', 1)).rejects.toMatchObject({ code: 'request.invalid' });
});
