/** Tests the order in which due notifications are leased, and that a lease request skips no endpoint. */
import { randomUUID } from 'node:crypto';
import { holdLocks, openTransaction, waitForBlockedBackends } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import { DeliveryLeaseRepository, type LeaseRequest } from './delivery-lease.repository.js';
import { DeliveryMetrics } from './delivery-metrics.js';

const SECOND = 1_000;
const BACKLOG_AFTER_MS = 30 * SECOND;

let dispatcher: DispatcherUnderTest;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
});
afterEach(() => dispatcher.test.superuser.query(`TRUNCATE notifications, delivery_attempts, circuits`));
afterAll(() => dispatcher.test.stop());

/** Records a notification that has been due for `dueForMs`. Returns its id. */
async function recordDue(merchantId: number, endpoint: string, dueForMs: number): Promise<string> {
  const payment = dispatcher.newPayment('https://shop.example/hook');
  await dispatcher.deliverPayments(payment);
  const { id } = await dispatcher.getNotificationRow(payment);
  await dispatcher.test.dataSource.query(
    `UPDATE notifications SET merchant_id = $2, endpoint = $3, next_attempt_at = $4 WHERE id = $1`,
    [id, merchantId, endpoint, dispatcher.clock.later(-dueForMs)],
  );
  return id;
}

async function leaseIds(
  overrides: Partial<LeaseRequest> = {},
  dataSource = dispatcher.test.dataSource,
): Promise<string[]> {
  const rows = await new DeliveryLeaseRepository(dataSource).leaseDue({
    now: dispatcher.clock.now(),
    leaseId: randomUUID(),
    leasedUntil: dispatcher.clock.later(30 * SECOND),
    max: 50,
    maxPerMerchant: 50,
    maxPerEndpoint: 50,
    usage: [],
    ...overrides,
  });
  return rows.map(({ id }) => id);
}

const openCircuit = (merchantId: number, endpoint: string, openForMs: number): Promise<unknown> =>
  dispatcher.test.dataSource.query(
    `INSERT INTO circuits (merchant_id, endpoint, failures, openings, open_until) VALUES ($1, $2, 5, 1, $3)`,
    [merchantId, endpoint, dispatcher.clock.later(openForMs)],
  );

test('a lease request finds each endpoint of each merchant, in any order of their due times', async () => {
  const ids: string[] = [];
  for (const merchantId of [7, 8, 9])
    // The later an endpoint is in the alphabet, the longer its notification has been due.
    for (const [nth, endpoint] of ['a:443', 'b:443', 'c:443', 'd:443'].entries())
      ids.push(await recordDue(merchantId, endpoint, nth * SECOND));
  expect((await leaseIds()).toSorted()).toEqual(ids.toSorted());
});

test('most leases write no index entry, because they change no indexed column and the pages have room', async () => {
  const payments = Array.from({ length: 40 }, () => dispatcher.newPayment('https://shop.example/hook'));
  await dispatcher.deliverPayments(...payments);
  await using transaction = await openTransaction(dispatcher.test.dataSource);
  const countUpdates = async (): Promise<{ all: number; withIndexEntry: number }> => {
    const [row] = await transaction.query<[{ all: number; withIndexEntry: number }]>(
      `SELECT n_tup_upd AS all, n_tup_upd - n_tup_hot_upd AS "withIndexEntry"
         FROM pg_stat_xact_user_tables WHERE relname = 'notifications'`,
    );
    return row;
  };
  const before = await countUpdates();
  await leaseIds({}, transaction as unknown as DataSource);
  const after = await countUpdates();
  expect(after.all - before.all).toBe(payments.length);
  expect(after.withIndexEntry - before.withIndexEntry).toBeLessThan(payments.length / 2);
});

// The backlog of an endpoint is all notifications that have been due for at least 30 seconds. A permit allows one request
// in flight.
describe('a lease request for an endpoint with a backlog', () => {
  test('leases newer notifications first if the endpoint has one permit', async () => {
    const backlog = [
      await recordDue(7, 'a:443', BACKLOG_AFTER_MS + 2),
      await recordDue(7, 'a:443', BACKLOG_AFTER_MS + 1),
    ];
    const newer = [await recordDue(7, 'a:443', 2), await recordDue(7, 'a:443', 1)];
    const order: string[][] = [];
    for (let nth = 0; nth < 4; nth++) order.push(await leaseIds({ maxPerEndpoint: 1 }));
    expect(order).toEqual([[newer[0]], [newer[1]], [backlog[0]], [backlog[1]]]);
  });

  test('leases one notification of the backlog and one newer notification if the endpoint has two permits', async () => {
    const backlog = [
      await recordDue(7, 'a:443', BACKLOG_AFTER_MS + 2),
      await recordDue(7, 'a:443', BACKLOG_AFTER_MS + 1),
    ];
    const newer = [await recordDue(7, 'a:443', 2), await recordDue(7, 'a:443', 1)];
    expect((await leaseIds({ maxPerEndpoint: 2 })).toSorted()).toEqual([newer[0]!, backlog[0]!].toSorted());
  });

  test('leases a notification only once if it has been due for exactly 30 seconds', async () => {
    const ids = [await recordDue(7, 'a:443', BACKLOG_AFTER_MS), await recordDue(7, 'a:443', BACKLOG_AFTER_MS)];
    expect((await leaseIds({ maxPerEndpoint: 2 })).toSorted()).toEqual(ids.toSorted());
  });
});

describe('one free permit', () => {
  test('is used for the endpoint whose notification has waited longest, if it is the only permit of the merchant', async () => {
    await recordDue(7, 'a:443', 1);
    const oldest = await recordDue(7, 'b:443', 3);
    await recordDue(7, 'c:443', 2);
    expect(await leaseIds({ maxPerMerchant: 1 })).toEqual([oldest]);
  });

  test('is used for the merchant whose notification has waited longest, if it is the only permit of the process', async () => {
    await recordDue(7, 'a:443', 1);
    const oldest = await recordDue(8, 'a:443', 3);
    await recordDue(9, 'a:443', 2);
    expect(await leaseIds({ max: 1 })).toEqual([oldest]);
  });

  test('is used for the endpoint with fewer requests in flight, although another endpoint has waited longer', async () => {
    await recordDue(7, 'a:443', 2);
    const idle = await recordDue(7, 'b:443', 1);
    const usage = [{ merchantId: 7, endpoint: 'a:443', inFlight: 1 }];
    expect(await leaseIds({ usage, max: 1 })).toEqual([idle]);
  });
});

test('a notification that is due a millisecond later is not leased with a notification that is due now', async () => {
  const dueNow = await recordDue(7, 'a:443', 0);
  await recordDue(7, 'a:443', -1);
  expect(await leaseIds()).toEqual([dueNow]);
});

test('the requests in flight of one merchant take no permit of another merchant', async () => {
  await recordDue(7, 'a:443', 2);
  const leasable = await recordDue(8, 'a:443', 1);
  const usage = [{ merchantId: 7, endpoint: 'b:443', inFlight: 1 }];
  expect(await leaseIds({ usage, maxPerMerchant: 1 })).toEqual([leasable]);
});

test.each([
  ['newer', 0],
  ['backlog', BACKLOG_AFTER_MS],
])(
  'at an endpoint of two merchants, a merchant without a free permit gets no permit of the other merchant (%s notifications)',
  async (_, dueForMs) => {
    await recordDue(7, 'a:443', dueForMs + 2);
    const leasable = await recordDue(8, 'a:443', dueForMs + 1);
    const usage = [{ merchantId: 7, endpoint: 'a:443', inFlight: 1 }];
    expect(await leaseIds({ usage, maxPerEndpoint: 1 })).toEqual([leasable]);
  },
);

test('a half-open circuit allows one probe, and no probe if no notification of its endpoint is due', async () => {
  const probe = await recordDue(7, 'a:443', 2);
  await recordDue(7, 'a:443', 1);
  await recordDue(7, 'b:443', -1);
  await openCircuit(7, 'a:443', 0);
  await openCircuit(7, 'b:443', 0);
  expect(await leaseIds()).toEqual([probe]);
});

describe('a probe', () => {
  const readOpenUntil = (merchantId: number, endpoint: string): Promise<unknown> =>
    dispatcher.test.dataSource.query(`SELECT open_until FROM circuits WHERE merchant_id = $1 AND endpoint = $2`, [
      merchantId,
      endpoint,
    ]);

  test('is marked in the circuit of its own endpoint and merchant', async () => {
    await recordDue(7, 'a:443', 1);
    const others = [
      [7, 'b:443'],
      [8, 'a:443'],
    ] as const;
    await openCircuit(7, 'a:443', 0);
    for (const [merchantId, endpoint] of others) await openCircuit(merchantId, endpoint, 0);
    expect(await leaseIds()).toHaveLength(1);
    expect(await readOpenUntil(7, 'a:443')).toEqual([{ open_until: dispatcher.clock.later(30 * SECOND) }]);
    for (const [merchantId, endpoint] of others)
      expect(await readOpenUntil(merchantId, endpoint)).toEqual([{ open_until: dispatcher.clock.now() }]);
  });

  test('is not leased if another worker marks a probe of the endpoint while the lease request runs', async () => {
    const { dataSource, superuser } = dispatcher.test;
    await recordDue(7, 'a:443', 1);
    await openCircuit(7, 'a:443', 0);
    // The trigger pauses the lease request after the request has taken its snapshot and before it reads a row.
    await superuser.query(`
      CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END';
      CREATE TRIGGER wait_for_test BEFORE UPDATE ON notifications EXECUTE FUNCTION wait_for_test();`);
    await using lock = await holdLocks(dataSource, `SELECT pg_advisory_xact_lock(1)`);
    const leasing = leaseIds();
    await waitForBlockedBackends(dataSource, 1);
    await dataSource.query(`UPDATE circuits SET open_until = $1`, [dispatcher.clock.later(30 * SECOND)]);
    await lock.release();
    expect(await leasing).toEqual([]);
    await superuser.query(`DROP TRIGGER wait_for_test ON notifications; DROP FUNCTION wait_for_test`);
  });
});

describe('the age of the oldest due notification', () => {
  const readOldestDueSeconds = (): Promise<number> =>
    dispatcher.test.service.app.get(DeliveryMetrics).oldestDueSeconds();

  test('is taken from the endpoint that has waited longest, and ignores notifications that are not due', async () => {
    await recordDue(7, 'a:443', -SECOND);
    expect(await readOldestDueSeconds()).toBe(0);
    await recordDue(7, 'a:443', 2 * SECOND);
    await recordDue(7, 'b:443', 5 * SECOND);
    await recordDue(8, 'a:443', 3 * SECOND);
    expect(await readOldestDueSeconds()).toBe(5);
  });

  test('ignores notifications that are being sent until their leases end', async () => {
    await recordDue(7, 'a:443', 0);
    await recordDue(7, 'b:443', 2 * SECOND);
    const leasedUntil = dispatcher.clock.later(3 * SECOND);
    expect(await leaseIds({ leasedUntil, max: 1 })).toHaveLength(1);
    dispatcher.clock.advance(3 * SECOND - 1);
    expect(await readOldestDueSeconds()).toBe(2.999);
    expect(await leaseIds({ leasedUntil })).toHaveLength(1);
    expect(await readOldestDueSeconds()).toBe(0);
    dispatcher.clock.advance(1);
    expect(await readOldestDueSeconds()).toBe(5);
  });
});
