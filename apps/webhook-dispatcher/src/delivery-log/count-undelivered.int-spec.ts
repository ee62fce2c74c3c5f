import {
  type CountUndelivered,
  CountUndeliveredV1,
  type DeliveryOwner,
  ListDeliveriesV1,
  MAX_COUNTED_SITES,
  MAX_UNDELIVERED_COUNT,
  type UndeliveredCount,
} from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { planOf } from '@svc/testing';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import { TEST_SITE } from '../../test/payment.js';
import { countUndelivered } from './deliveries.query.js';

const ENDPOINT = 'http://127.0.0.1:9/webhooks';
const OWNER: DeliveryOwner = TEST_SITE;
const OTHER_OWNERS: readonly DeliveryOwner[] = [
  { ...OWNER, mode: 'live' },
  { ...OWNER, siteId: 72 },
  { ...OWNER, merchantId: 8 },
];

let dispatcher: DispatcherUnderTest;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  await dispatcher.deliverDefaultSecrets();
});
afterAll(() => dispatcher.test.stop());
afterEach(() => dispatcher.test.superuser.query(`TRUNCATE notifications, delivery_attempts, circuits`));

describe('the count of undelivered webhooks', () => {
  const FROM = '2026-01-01T00:00:00.000Z';
  const { siteId, ...merchant } = OWNER;
  const count = async (changes: Partial<CountUndelivered> = {}): Promise<UndeliveredCount[]> => {
    const request = { ...merchant, siteIds: [siteId], from: FROM, ...changes };
    return (await dispatcher.test.service.app.get(Commands).request(CountUndeliveredV1, request)).counts;
  };
  const giveUp = (id: string, state: string): Promise<unknown> =>
    dispatcher.test.superuser.query(
      `UPDATE notifications SET state = $2, next_attempt_at = NULL, payment_status = CASE $2 WHEN 'superseded' THEN 'Failed' ELSE payment_status END WHERE id = $1`,
      [id, state],
    );

  it('contains those that were given up, of this merchant, mode, site and time', async () => {
    await dispatcher.deliverPayments(...Array.from({ length: 5 }, () => dispatcher.newPayment(ENDPOINT)));
    const { deliveries } = await dispatcher.test.service.app.get(Commands).request(ListDeliveriesV1, { owner: OWNER });
    expect(await count()).toEqual([]);
    for (const [index, state] of ['exhausted', 'exhausted', 'gone', 'superseded'].entries())
      await giveUp(deliveries[index]!.id, state);
    const found = [
      { siteId, state: 'exhausted', count: 2 },
      { siteId, state: 'gone', count: 1 },
    ];
    expect(await count()).toEqual(found);
    expect(await count({ siteIds: [siteId, 72] })).toEqual(found);
    for (const other of OTHER_OWNERS) {
      const { siteId: otherSite, ...changes } = other;
      expect(await count({ ...changes, siteIds: [otherSite] })).toEqual([]);
    }
    expect(await count({ from: dispatcher.clock.later(1_000).toISOString() })).toEqual([]);
  });

  it('ends at 100', async () => {
    await dispatcher.deliverPayments(...Array.from({ length: 101 }, () => dispatcher.newPayment(ENDPOINT)));
    await dispatcher.test.superuser.query(`UPDATE notifications SET state = 'exhausted', next_attempt_at = NULL`);
    expect(await count()).toEqual([{ siteId, state: 'exhausted', count: MAX_UNDELIVERED_COUNT }]);
  });

  it('is refused for more sites than a merchant has, and for a time that is none', async () => {
    for (const changes of [{ siteIds: Array<number>(MAX_COUNTED_SITES + 1).fill(1) }, { from: '2026-01-01' }])
      await expect(count(changes)).rejects.toMatchObject({ code: 'request.invalid' });
  });

  it('reads ranges of an index', async () => {
    const { dataSource } = dispatcher.test;
    const request = { ...merchant, siteIds: [siteId], from: FROM };
    const plan = await planOf(dataSource, () => countUndelivered(dataSource, request));
    expect(plan).toMatch(
      /Index Only Scan using notifications_undelivered_of_site on notifications n.*\n\s+Index Cond: .*merchant_id = .*site_id = .*mode = .*state = .*id >= /,
    );
    expect(plan).not.toMatch(/Seq Scan/);
  });
});
