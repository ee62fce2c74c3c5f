import {
  DigestNotificationsV1,
  ListNotificationsV1,
  ListNotifiedSitesV1,
  type Mode,
  type PaymentSnapshot,
} from '@svc/contracts';
import { newPaymentReference } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { anAnonymousPayment } from '@svc/testing';
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
let numbers = 9_000;
const URL = 'https://shop.example/site';
const enable = async (over: object = {}): Promise<{ merchantId: number; siteId: number }> => {
  const site = { merchantId: ++numbers, siteId: ++numbers };
  await dispatcher.deliverSite({ ...site, webhookUrl: URL, webhookEnabled: true, ...over });
  return site;
};
async function payAt(paymentUTCDate: string, over: Partial<PaymentSnapshot>): Promise<string> {
  const paymentReference = newPaymentReference(new Date());
  await dispatcher.deliverPayments({ ...anAnonymousPayment(), paymentReference, paymentUTCDate, ...over });
  return paymentReference;
}
const digestsOf = async (book: string, merchantId: number) =>
  (await commands.request(DigestNotificationsV1, { book, merchantId, ...DAY })).digests;
const linesOf = async (book: string, merchantId: number, mode: Mode = 'test') =>
  (await commands.request(ListNotificationsV1, { book, merchantId, mode, ...DAY })).lines;

test.each(['notifications', 'webhooks'])('%s: those of each merchant and mode, and how many wait', async (book) => {
  const [site, other] = [await enable(), await enable()];
  const reference = await payAt(NOON, site);
  await payAt(NOON, { ...site, mode: 'live', state: 'failed', processedAmount: 0 });
  await payAt(NOON, other);
  expect(await digestsOf(book, site.merchantId)).toMatchObject([
    { merchantId: site.merchantId, mode: 'live', count: 1, open: 1, amount: 0 },
    { merchantId: site.merchantId, mode: 'test', count: 1, open: 1, amount: book === 'webhooks' ? 13_345 : 12_345 },
  ]);
  expect(await linesOf(book, site.merchantId)).toMatchObject([{ key: reference, line: { rowReference: reference } }]);
  await dispatcher.test.dataSource.query(
    `UPDATE notifications SET state = 'exhausted', next_attempt_at = NULL WHERE merchant_id = $1`,
    [other.merchantId],
  );
  expect(await digestsOf(book, other.merchantId)).toMatchObject([{ count: 1, open: 0 }]);
});

test.each(['notifications', 'webhooks'])(
  '%s: a row belongs to its day from the first millisecond to the last',
  async (book) => {
    const site = await enable();
    await dispatcher.test.dataSource.query(
      `UPDATE sites SET webhook_enabled = false, notified_since = NULL WHERE site_id = $1`,
      [site.siteId],
    );
    await dispatcher.test.dataSource.query(
      `UPDATE sites SET webhook_enabled = true, notified_since = '2026-01-01T00:00:00Z' WHERE site_id = $1`,
      [site.siteId],
    );
    for (const time of ['2026-02-28T23:59:59.999Z', DAY.from, '2026-03-01T23:59:59.999Z', DAY.until])
      await payAt(time, site);
    const lines = await linesOf(book, site.merchantId);
    expect(lines.map(({ line }) => line!['paymentUTCDate']).toSorted()).toEqual([DAY.from, '2026-03-01T23:59:59.999Z']);
  },
);

describe('webhooks', () => {
  const sitesOf = async (siteId: number) =>
    (await commands.request(ListNotifiedSitesV1, { after: siteId - 1 })).sites.filter((site) => site.siteId === siteId);

  test('are expected from a minute after the webhook was enabled, regardless of other changes', async () => {
    const site = await enable();
    const since = dispatcher.clock.later(60_000).toISOString();
    expect(await sitesOf(site.siteId)).toEqual([{ ...site, since }]);
    dispatcher.clock.advance(3_600_000);
    await dispatcher.deliverSite({ ...site, webhookUrl: `${URL}/new`, webhookEnabled: true }, 2);
    expect(await sitesOf(site.siteId)).toEqual([{ ...site, since }]);
    await payAt(new Date(Date.parse(since) - 1).toISOString(), site);
    const reference = await payAt(since, site);
    expect((await linesOf('webhooks', site.merchantId)).map(({ key }) => key)).toEqual([reference]);
    expect(await linesOf('notifications', site.merchantId)).toHaveLength(2);
  });

  test('are not expected for a site whose webhook is disabled, and again after it is enabled', async () => {
    const site = await enable();
    await payAt(NOON, site);
    await dispatcher.deliverSite({ ...site, webhookUrl: URL, webhookEnabled: false }, 2);
    expect([await sitesOf(site.siteId), await digestsOf('webhooks', site.merchantId)]).toEqual([[], []]);
    dispatcher.clock.advance(60_000);
    await dispatcher.deliverSite({ ...site, webhookUrl: URL, webhookEnabled: true }, 3);
    expect(await sitesOf(site.siteId)).toEqual([{ ...site, since: dispatcher.clock.later(60_000).toISOString() }]);
  });
});

test('an unknown book is rejected', async () => {
  await expect(digestsOf('history', 1)).rejects.toMatchObject({ code: 'request.invalid' });
});
