/**
 * Tests the conditions of a replay one by one. In each test only one condition is false. A Success is the notification
 * of a successful payment, a Failed is the notification of a failed payment.
 */
import { randomUUID } from 'node:crypto';
import { holdLocks, waitForBlockedBackends } from '@svc/testing';
import { DispatcherUnderTest } from '../../test/dispatcher.js';

const HOST = 'shop.example:443';

let dispatcher: DispatcherUnderTest;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
});
afterEach(() => dispatcher.test.superuser.query(`TRUNCATE notifications, delivery_attempts, circuits`));
afterAll(() => dispatcher.test.stop());

const query = <T>(text: string, values: unknown[] = []): Promise<T> => dispatcher.test.dataSource.query(text, values);

type PaymentOptions = Parameters<DispatcherUnderTest['newPayment']>[1] & { merchantId?: number };

/** Records a notification in state exhausted or gone. Returns its id. */
async function recordExhausted(
  state: 'exhausted' | 'gone' = 'exhausted',
  { merchantId = 7, ...options }: PaymentOptions = {},
) {
  const payment = { ...dispatcher.newPayment('https://shop.example/hook', options), merchantId };
  await dispatcher.deliverPayments(payment);
  const { id } = await dispatcher.getNotificationRow(payment);
  await updateNotification(id, `state = $2, next_attempt_at = NULL`, state);
  return id;
}
const updateNotification = (id: string, columns: string, ...values: unknown[]): Promise<unknown> =>
  query(`UPDATE notifications SET ${columns} WHERE id = $1`, [id, ...values]);
const leaseUntil = (id: string, ms: number): Promise<unknown> =>
  updateNotification(id, `lease_id = gen_random_uuid(), leased_until = $2`, dispatcher.clock.later(ms));

/** Requests a replay of many notifications. Returns the numbers of replayed and of skipped notifications. */
const replayMany = async (body: object): Promise<unknown> => {
  const { replayed, skipped } = (await dispatcher.requestReplays(body)).body;
  return [replayed, skipped];
};
/** Requests a replay of one notification. Returns the HTTP status. */
const replayOne = async (id: string): Promise<number> =>
  (await dispatcher.requestAdmin('POST', `/${id}/replay`)).status;

const openCircuit = (merchantId: number, endpoint: string): Promise<unknown> =>
  query(`INSERT INTO circuits (merchant_id, endpoint, failures, openings, open_until) VALUES ($1, $2, 5, 1, $3)`, [
    merchantId,
    endpoint,
    dispatcher.clock.later(60_000),
  ]);
async function openCircuits(): Promise<void> {
  await openCircuit(7, HOST);
  await openCircuit(7, 'other.example:443');
  await openCircuit(8, HOST);
}
const OTHER_CIRCUITS = [
  { merchant_id: 7, endpoint: 'other.example:443' },
  { merchant_id: 8, endpoint: HOST },
];
const readCircuits = (): Promise<unknown> =>
  query(`SELECT merchant_id, endpoint FROM circuits ORDER BY merchant_id, endpoint`);

const readOpenCircuits = (): Promise<unknown> =>
  query(`SELECT merchant_id, endpoint FROM circuits WHERE open_until > $1 ORDER BY 1, 2`, [dispatcher.clock.now()]);

describe('a replay of one notification', () => {
  test.each([
    { title: 'is accepted when the lease of the notification ends now', ms: 0, status: 202 },
    { title: 'is rejected when the lease of the notification ends a millisecond later', ms: 1, status: 409 },
  ])('$title', async ({ ms, status }) => {
    const id = await recordExhausted();
    await leaseUntil(id, ms);
    expect(await replayOne(id)).toBe(status);
  });

  test('is accepted for a Failed notification while its session has no Success', async () => {
    const sessionId = randomUUID();
    const ids = [
      await recordExhausted('exhausted', { sessionId, state: 'failed' }),
      await recordExhausted('exhausted', { sessionId, state: 'failed' }),
    ];
    expect([await replayOne(ids[0]!), await replayOne(ids[1]!)]).toEqual([202, 202]);
  });

  test('allows a probe of the circuit of its own endpoint and merchant', async () => {
    const id = await recordExhausted();
    await openCircuits();
    expect(await replayOne(id)).toBe(202);
    expect(await readCircuits()).toHaveLength(3);
    expect(await readOpenCircuits()).toEqual(OTHER_CIRCUITS);
  });

  test('does not change a circuit whose probe is in flight', async () => {
    const id = await recordExhausted();
    await openCircuits();
    await query(`UPDATE circuits SET probe_lease_id = gen_random_uuid()`);
    expect(await replayOne(id)).toBe(202);
    expect(await query(`SELECT FROM circuits WHERE open_until <= $1`, [dispatcher.clock.now()])).toEqual([]);
  });
});

describe('a replay of many notifications', () => {
  const EXHAUSTED = { state: 'exhausted' };

  test.each([
    { title: 'includes a notification whose lease ends now', ms: 0, counts: [1, 0] },
    { title: 'skips a notification whose lease ends a millisecond later', ms: 1, counts: [0, 1] },
  ])('$title', async ({ ms, counts }) => {
    await leaseUntil(await recordExhausted(), ms);
    expect(await replayMany(EXHAUSTED)).toEqual(counts);
  });

  test('includes Failed notifications while their session has no Success', async () => {
    const sessionId = randomUUID();
    for (let count = 0; count < 2; count++) await recordExhausted('exhausted', { sessionId, state: 'failed' });
    await recordExhausted('gone');
    expect(await replayMany(EXHAUSTED)).toEqual([2, 0]);
  });

  test('skips superseded notifications', async () => {
    const id = await recordExhausted('exhausted', { state: 'failed' });
    await updateNotification(id, `state = 'superseded'`);
    expect(await replayMany({ merchantId: 7, since: dispatcher.clock.nowISO() })).toEqual([0, 1]);
  });

  test('allows probes of the circuits of its own endpoints and merchants', async () => {
    await recordExhausted();
    await openCircuits();
    expect(await replayMany(EXHAUSTED)).toEqual([1, 0]);
    expect(await readCircuits()).toHaveLength(3);
    expect(await readOpenCircuits()).toEqual(OTHER_CIRCUITS);
  });

  test('does not change a circuit whose probe is in flight', async () => {
    await recordExhausted();
    await openCircuits();
    await query(`UPDATE circuits SET probe_lease_id = gen_random_uuid()`);
    expect(await replayMany(EXHAUSTED)).toEqual([1, 0]);
    expect(await readOpenCircuits()).toHaveLength(3);
  });

  test('with an endpoint includes only the notifications of this endpoint', async () => {
    await recordExhausted();
    const other = await recordExhausted();
    await updateNotification(other, `endpoint = $2`, 'other.example:443');
    expect(await replayMany({ ...EXHAUSTED, merchantId: 7, endpoint: 'other.example:443' })).toEqual([1, 0]);
    expect(await query(`SELECT id FROM notifications WHERE state = 'pending'`)).toEqual([{ id: other }]);
  });

  test('locks the circuits in the order of their endpoints, so that two replays cannot deadlock', async () => {
    const endpoints = ['a:443', 'b:443', 'c:443', 'd:443', 'e:443', 'f:443'];
    for (const endpoint of endpoints) {
      await updateNotification(await recordExhausted(), `endpoint = $2`, endpoint);
      await openCircuit(7, endpoint);
    }
    const { dataSource } = dispatcher.test;
    await using lock = await holdLocks(dataSource, `SELECT FROM circuits WHERE endpoint = 'a:443' FOR UPDATE`);
    const replaying = replayMany(EXHAUSTED);
    await waitForBlockedBackends(dataSource, 1);
    const unlockedCircuits = await query(`SELECT endpoint FROM circuits ORDER BY endpoint FOR UPDATE SKIP LOCKED`);
    await lock.release();
    expect(await replaying).toEqual([6, 0]);
    expect(unlockedCircuits).toEqual(endpoints.slice(1).map((endpoint) => ({ endpoint })));
  });

  test('does not change a circuit that is already half-open', async () => {
    await recordExhausted();
    await openCircuits();
    const since = dispatcher.clock.later(-1);
    await query(`UPDATE circuits SET open_until = $1`, [since]);
    expect(await replayMany(EXHAUSTED)).toEqual([1, 0]);
    expect(await query(`SELECT DISTINCT open_until FROM circuits`)).toEqual([{ open_until: since }]);
  });

  test.each([
    ['merchant', { merchantId: 7 }],
    ['state', EXHAUSTED],
  ])(
    'can be limited by %s to notifications that were created at or after `since`, to the millisecond',
    async (_, body) => {
      await recordExhausted();
      expect(await replayMany({ ...body, since: dispatcher.clock.later(1).toISOString() })).toEqual([0, 0]);
      expect(await replayMany({ ...body, since: dispatcher.clock.nowISO() })).toEqual([1, 0]);
    },
  );

  test('can be limited to one state of the notifications of a merchant since a time', async () => {
    await recordExhausted('gone');
    await recordExhausted('exhausted');
    await recordExhausted('exhausted', { merchantId: 8 });
    expect(await replayMany({ merchantId: 7, since: dispatcher.clock.nowISO(), state: 'gone' })).toEqual([1, 0]);
  });

  test('can be limited to one merchant of the notifications in a state', async () => {
    for (const merchantId of [7, 8, 8]) await recordExhausted('exhausted', { merchantId });
    await recordExhausted('gone');
    expect(await replayMany({ ...EXHAUSTED, merchantId: 8 })).toEqual([2, 0]);
    expect(await replayMany(EXHAUSTED)).toEqual([1, 0]);
  });
});
