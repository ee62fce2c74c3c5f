import { randomUUID } from 'node:crypto';
import { planOf } from '@svc/testing';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import { DeliveryMetrics } from '../delivery/delivery-metrics.js';
import { ReplayMany } from '../replays/replay-many.js';
import type { ReplayManyRequest } from '../replays/replay-many.request.js';
import { findWebhooks } from '../site-webhooks/find-webhooks.query.js';
import { findLastAttempts, listNotifications, type NotificationQuery } from './list-notifications.query.js';

let dispatcher: DispatcherUnderTest;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
});
afterAll(() => dispatcher.test.stop());

const ID = randomUUID();
const explainList = (query: NotificationQuery): Promise<string> =>
  planOf(dispatcher.test.dataSource, () => listNotifications(dispatcher.test.dataSource, query));

// These statements are planned while the tables are empty, because services plan a statement only once, at the start.
const merchantCondition = String.raw`merchant_id = \S+`;
const idRange = String.raw`id > \S+\) AND \(id < \S+`;
const stateCondition = (stateName: string): string => `state = '${stateName}'::text`;
/** Matches a plan that scans `index` in its order and reads only the rows that it returns. */
const orderedScan = (scanType: 'Index Scan' | 'Index Scan Backward', index: string, ...conditions: string[]): RegExp =>
  new RegExp(
    String.raw`^Limit .*\n\s+->  ${scanType} using ${index} on notifications .*` +
      (conditions.length === 0 ? '$' : String.raw`\n\s+Index Cond: \(+${conditions.join(String.raw`\) AND \(`)}\)+$`),
  );

/** Matches a plan that merges two scans, each of an index in its order, and reads only the rows that it returns. */
const mergedScan = (scanType: 'Index Scan' | 'Index Scan Backward', ...scans: [string, ...string[]][]): RegExp =>
  new RegExp(
    String.raw`^Limit .*\n\s+->  Merge Append .*\n\s+Sort Key: .*` +
      scans
        .map(
          ([index, ...conditions]) =>
            String.raw`\n\s+->  Limit .*\n\s+->  ${scanType} using ${index} on notifications .*` +
            String.raw`\n\s+Index Cond: \(+${conditions.join(String.raw`\) AND \(`)}\)+`,
        )
        .join('') +
      '$',
  );

describe('the list of notifications', () => {
  const backwardScan = (index: string, ...conditions: string[]): RegExp =>
    orderedScan('Index Scan Backward', index, ...conditions);

  test('reads only the rows of its page if it has no filter', async () => {
    expect(await explainList({})).toMatch(backwardScan('notifications_pkey', idRange));
    expect(await explainList({ after: ID })).toMatch(backwardScan('notifications_pkey', idRange));
  });

  test('reads the last attempts of its page by their key', async () => {
    const page = [{ id: ID, attemptCount: 2 }];
    const plan = await planOf(dispatcher.test.dataSource, () => findLastAttempts(dispatcher.test.dataSource, page));
    expect(plan).toMatch(
      /Index Scan using delivery_attempts_pkey on delivery_attempts .*\n\s+Index Cond: \(\(notification_id = \S+\) AND \(attempt_number = \S+\)\)$/,
    );
  });

  test('reads only the rows of its page for one merchant, also for its delivered notifications', async () => {
    const index = 'notifications_of_merchant_by_id';
    const bothParts = mergedScan(
      'Index Scan Backward',
      ['notifications_pending', idRange, merchantCondition],
      [index, merchantCondition, idRange],
    );
    expect(await explainList({ merchantId: '7' })).toMatch(bothParts);
    expect(await explainList({ merchantId: '7', after: ID })).toMatch(bothParts);
    const delivered = await explainList({ merchantId: '7', state: 'delivered', after: ID });
    expect(delivered).toMatch(backwardScan(index, merchantCondition, idRange, stateCondition('delivered')));
  });

  test('reads only the rows of its page for pending notifications of all merchants or of one merchant', async () => {
    const index = 'notifications_pending';
    expect(await explainList({ state: 'pending' })).toMatch(backwardScan(index, idRange));
    expect(await explainList({ state: 'pending', after: ID })).toMatch(backwardScan(index, idRange));
    expect(await explainList({ state: 'pending', merchantId: '7', after: ID })).toMatch(
      backwardScan(index, idRange, merchantCondition),
    );
  });

  test('reads only the rows of its page for notifications without a signing key, of all merchants or of one merchant', async () => {
    const index = 'notifications_unsigned';
    expect(await explainList({ unsigned: 'true' })).toMatch(backwardScan(index, idRange));
    expect(await explainList({ unsigned: 'true', after: ID })).toMatch(backwardScan(index, idRange));
    expect(await explainList({ unsigned: 'true', merchantId: '7', after: ID })).toMatch(
      backwardScan(index, idRange, merchantCondition),
    );
  });

  test.each(['superseded', 'exhausted', 'gone'])(
    'reads only the rows of its page for %s notifications of all merchants or of one merchant',
    async (stateName) => {
      const index = 'notifications_undelivered';
      expect(await explainList({ state: stateName })).toMatch(backwardScan(index, stateCondition(stateName), idRange));
      expect(await explainList({ state: stateName, after: ID })).toMatch(
        backwardScan(index, stateCondition(stateName), idRange),
      );
      const planOfMerchant = await explainList({ state: stateName, merchantId: '7', after: ID });
      expect(planOfMerchant).toMatch(backwardScan(index, stateCondition(stateName), idRange, merchantCondition));
    },
  );
});

test('the waiting time of the oldest due notification is read for each endpoint, not for each notification', async () => {
  const { dataSource, service } = dispatcher.test;
  const plan = await planOf(dataSource, () => service.app.get(DeliveryMetrics).oldestDueSeconds());
  const indexScan = String.raw`->  Limit .*\n\s+->  Index Scan using notifications_due_of_merchant on notifications`;
  expect(plan.match(new RegExp(indexScan, 'g'))).toHaveLength(2);
  expect(plan).toMatch(
    new RegExp(String.raw`${indexScan} n .*\n\s+Index Cond: \(ROW\(merchant_id, endpoint\) > ROW\(`),
  );
});

test('notifications without a signing key are counted with an index', async () => {
  const { dataSource, service } = dispatcher.test;
  const plan = await planOf(dataSource, () => service.app.get(DeliveryMetrics).countUnsigned());
  expect(plan).toMatch(/Index Scan on notifications_unsigned /);
});

const ADMINISTRATOR = { actor: 'admin:test', requestId: 'test' };
test('a replay since a time skips older notifications, and a replay of a state reads only that state, with an index', async () => {
  const { dataSource } = dispatcher.test;
  const explainReplay = (request: ReplayManyRequest): Promise<string> =>
    planOf(dataSource, () => dispatcher.test.service.app.get(ReplayMany).execute(ADMINISTRATOR, request));
  const planOfReplay = await explainReplay({ merchantId: 7, since: '2026-03-01T10:00Z' });
  expect(planOfReplay).toMatch(
    new RegExp(
      String.raw`Index Scan using notifications_of_merchant_by_id on notifications.*\n\s+Index Cond: \(+${merchantCondition}\) AND \(id > \S+\) AND \(created_at >= `,
    ),
  );
  expect(planOfReplay).toMatch(
    new RegExp(
      String.raw`Merge Append .*\n\s+Sort Key: .*\n\s+->  Limit .*\n\s+->  Index Scan using notifications_pending on notifications.*\n\s+Index Cond: \(+id > \S+\) AND \(${merchantCondition}\)`,
    ),
  );
  expect(await explainReplay({ state: 'exhausted' })).toMatch(
    new RegExp(
      String.raw`Index Scan using notifications_undelivered on notifications .*\n\s+Index Cond: \(+${stateCondition('exhausted')}\) AND \(id > `,
    ),
  );
});

test('the site webhooks of many payments are found by the site id', async () => {
  const { dataSource } = dispatcher.test;
  const plan = await planOf(dataSource, () => findWebhooks(dataSource, [{ merchantId: 7, siteId: 71 }]));
  expect(plan).toMatch(/Index Scan (on|using) sites_pkey .*\n\s+Index Cond: \(site_id = ANY/);
});
