/** The order in which due notifications are leased, without skipping an endpoint. */
import { randomUUID } from 'node:crypto';
import { waitUntil } from '@svc/testing';
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

/** Inserts a notification that has been due for so long. Returns its id. */
async function due(merchantId: number, endpoint: string, forMs: number): Promise<string> {
  const payment = dispatcher.newPayment('https://shop.example/hook');
  await dispatcher.deliverPayments(payment);
  const { id } = await dispatcher.getNotificationRow(payment);
  await dispatcher.test.dataSource.query(
    `UPDATE notifications SET merchant_id = $2, endpoint = $3, next_attempt_at = $4 WHERE id = $1`,
    [id, merchantId, endpoint, dispatcher.clock.later(-forMs)],
  );
  return id;
}

async function leasedIds(over: Partial<LeaseRequest> = {}): Promise<string[]> {
  const rows = await new DeliveryLeaseRepository(dispatcher.test.dataSource).leaseDue({
    now: dispatcher.clock.now(),
    leaseId: randomUUID(),
    leasedUntil: dispatcher.clock.later(30 * SECOND),
    max: 50,
    maxPerMerchant: 50,
    maxPerEndpoint: 50,
    usage: [],
    ...over,
  });
  return rows.map(({ id }) => id);
}

const openCircuit = (merchantId: number, endpoint: string, forMs: number): Promise<unknown> =>
  dispatcher.test.dataSource.query(
    `INSERT INTO circuits (merchant_id, endpoint, failures, openings, open_until) VALUES ($1, $2, 5, 1, $3)`,
    [merchantId, endpoint, dispatcher.clock.later(forMs)],
  );

test('a lease request finds each endpoint of each merchant, in any order of their due times', async () => {
  const ids: string[] = [];
  for (const merchantId of [7, 8, 9])
    // Endpoints later in the alphabet are due for longer.
    for (const [nth, endpoint] of ['a:443', 'b:443', 'c:443', 'd:443'].entries())
      ids.push(await due(merchantId, endpoint, nth * SECOND));
  expect((await leasedIds()).toSorted()).toEqual(ids.toSorted());
});

describe('of one endpoint', () => {
  test('a new notification is first, with one slot', async () => {
    const backlog = [await due(7, 'a:443', BACKLOG_AFTER_MS + 2), await due(7, 'a:443', BACKLOG_AFTER_MS + 1)];
    const fresh = [await due(7, 'a:443', 2), await due(7, 'a:443', 1)];
    const order: string[][] = [];
    for (let nth = 0; nth < 4; nth++) order.push(await leasedIds({ maxPerEndpoint: 1 }));
    expect(order).toEqual([[fresh[0]], [fresh[1]], [backlog[0]], [backlog[1]]]);
  });

  test('with two slots, one of each', async () => {
    const backlog = [await due(7, 'a:443', BACKLOG_AFTER_MS + 2), await due(7, 'a:443', BACKLOG_AFTER_MS + 1)];
    const fresh = [await due(7, 'a:443', 2), await due(7, 'a:443', 1)];
    expect((await leasedIds({ maxPerEndpoint: 2 })).toSorted()).toEqual([fresh[0]!, backlog[0]!].toSorted());
  });

  test('one exactly at the limit is leased once, and uses one slot', async () => {
    const ids = [await due(7, 'a:443', BACKLOG_AFTER_MS), await due(7, 'a:443', BACKLOG_AFTER_MS)];
    expect((await leasedIds({ maxPerEndpoint: 2 })).toSorted()).toEqual(ids.toSorted());
  });
});

describe('with one slot', () => {
  test('of a merchant, the endpoint that has waited longest gets it', async () => {
    await due(7, 'a:443', 1);
    const oldest = await due(7, 'b:443', 3);
    await due(7, 'c:443', 2);
    expect(await leasedIds({ maxPerMerchant: 1 })).toEqual([oldest]);
  });

  test('in total, the merchant that has waited longest gets it', async () => {
    await due(7, 'a:443', 1);
    const oldest = await due(8, 'a:443', 3);
    await due(9, 'a:443', 2);
    expect(await leasedIds({ max: 1 })).toEqual([oldest]);
  });

  test('the endpoint with fewer requests in flight gets it, although another has waited longer', async () => {
    await due(7, 'a:443', 2);
    const idle = await due(7, 'b:443', 1);
    const usage = [{ merchantId: 7, endpoint: 'a:443', inFlight: 1 }];
    expect(await leasedIds({ usage, max: 1 })).toEqual([idle]);
  });
});

test('a notification that is due a millisecond later is not leased, also beside due ones', async () => {
  const now = await due(7, 'a:443', 0);
  await due(7, 'a:443', -1);
  expect(await leasedIds()).toEqual([now]);
});

test('a half-open circuit lets one probe through, and one that is not due at all lets none', async () => {
  const probe = await due(7, 'a:443', 2);
  await due(7, 'a:443', 1);
  await due(7, 'b:443', -1);
  await openCircuit(7, 'a:443', 0);
  await openCircuit(7, 'b:443', 0);
  expect(await leasedIds()).toEqual([probe]);
});

describe('a probe', () => {
  const untilOf = (merchantId: number, endpoint: string): Promise<unknown> =>
    dispatcher.test.dataSource.query(`SELECT open_until FROM circuits WHERE merchant_id = $1 AND endpoint = $2`, [
      merchantId,
      endpoint,
    ]);

  test('is marked in the circuit of its own endpoint and merchant', async () => {
    await due(7, 'a:443', 1);
    const others = [
      [7, 'b:443'],
      [8, 'a:443'],
    ] as const;
    await openCircuit(7, 'a:443', 0);
    for (const [merchantId, endpoint] of others) await openCircuit(merchantId, endpoint, 0);
    expect(await leasedIds()).toHaveLength(1);
    expect(await untilOf(7, 'a:443')).toEqual([{ open_until: dispatcher.clock.later(30 * SECOND) }]);
    for (const [merchantId, endpoint] of others)
      expect(await untilOf(merchantId, endpoint)).toEqual([{ open_until: dispatcher.clock.now() }]);
  });

  test('is not leased when another worker has marked one since the request began', async () => {
    const { dataSource, superuser } = dispatcher.test;
    await due(7, 'a:443', 1);
    await openCircuit(7, 'a:443', 0);
    // The request has its snapshot by then, and has read no row.
    await superuser.query(`
      CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END';
      CREATE TRIGGER wait_for_test BEFORE UPDATE ON notifications EXECUTE FUNCTION wait_for_test();`);
    const holder = dataSource.createQueryRunner();
    await holder.query(`SELECT pg_advisory_lock(1)`);
    const claiming = leasedIds();
    await waitUntil('the claim to wait', 5_000, async () => {
      const rows = await dataSource.query<unknown[]>(
        `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return rows.length > 0;
    });
    await dataSource.query(`UPDATE circuits SET open_until = $1`, [dispatcher.clock.later(30 * SECOND)]);
    await holder.query(`SELECT pg_advisory_unlock(1)`);
    await holder.release();
    expect(await claiming).toEqual([]);
    await superuser.query(`DROP TRIGGER wait_for_test ON notifications; DROP FUNCTION wait_for_test`);
  });
});

describe('the age of the oldest due notification', () => {
  const seconds = (): Promise<number> => dispatcher.test.service.app.get(DeliveryMetrics).oldestDueSeconds();

  test('comes from the endpoint that has waited longest, and only from due notifications', async () => {
    await due(7, 'a:443', -SECOND);
    expect(await seconds()).toBe(0);
    await due(7, 'a:443', 2 * SECOND);
    await due(7, 'b:443', 5 * SECOND);
    await due(8, 'a:443', 3 * SECOND);
    expect(await seconds()).toBe(5);
  });
});
