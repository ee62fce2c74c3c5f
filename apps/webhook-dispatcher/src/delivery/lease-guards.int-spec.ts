/** Each condition of a lease and of a recorded result: a test where only this condition is false. */
import { randomUUID } from 'node:crypto';
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { DispatcherUnderTest, type NotificationRow } from '../../test/dispatcher.js';
import { Receiver } from '../../test/receiver.js';
import type { AttemptResult } from '../retries/classify-response.js';
import { MAX_SCHEDULE_MS } from '../retries/retry-schedule.js';
import { AttemptRecorder } from './attempt-recorder.js';
import { CircuitRepository } from './circuit.repository.js';
import { CountFailure } from './count-failure.js';
import { DeliveryAttemptRepository } from './delivery-attempt.repository.js';
import { DeliveryLeaseRepository, type LeasedNotification, type LeaseRequest } from './delivery-lease.repository.js';
import { DueSignal } from './due-signal.js';
import { SendNotification } from './send-notification.js';

const SECOND = 1_000;
const LEASE_MS = 30 * SECOND;
const ENDPOINT = 'https://shop.example/hook';
const HOST = 'shop.example:443';

let dispatcher: DispatcherUnderTest;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start({ SVC_DELIVERY_TIMEOUT_MS: '5000' });
  await dispatcher.deliverDefaultSecrets();
});
afterEach(() => dispatcher.test.superuser.query(`TRUNCATE notifications, delivery_attempts, circuits`));
afterAll(() => dispatcher.test.stop());

const query = <T>(text: string, values: unknown[] = []): Promise<T> => dispatcher.test.dataSource.query(text, values);
const claim = (over: Partial<LeaseRequest> = {}): Promise<LeasedNotification[]> =>
  new DeliveryLeaseRepository(dispatcher.test.dataSource).leaseDue({
    now: dispatcher.clock.now(),
    leaseId: randomUUID(),
    leasedUntil: dispatcher.clock.later(LEASE_MS),
    max: 50,
    maxPerMerchant: 50,
    maxPerEndpoint: 50,
    usage: [],
    ...over,
  });
const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id).sort();

async function recorded(change: Parameters<DispatcherUnderTest['newPayment']>[1] = {}): Promise<NotificationRow> {
  const payment = dispatcher.newPayment(ENDPOINT, change);
  await dispatcher.deliverPayments(payment);
  return dispatcher.getNotificationRow(payment);
}
const rowOf = async (id: string): Promise<NotificationRow> =>
  (await query<NotificationRow[]>(`SELECT * FROM notifications WHERE id = $1`, [id]))[0]!;
const change = (id: string, columns: string, ...values: unknown[]): Promise<unknown> =>
  query(`UPDATE notifications SET ${columns} WHERE id = $1`, [id, ...values]);

function write(
  notification: LeasedNotification,
  result: AttemptResult,
  statusCode: number | undefined,
): Promise<boolean> {
  const now = dispatcher.clock.now();
  const response = { durationMs: 1, ...(statusCode === undefined ? { errorClass: 'timeout' } : { statusCode }) };
  return new AttemptRecorder(
    new DeliveryAttemptRepository(dispatcher.test.dataSource),
    new DueSignal(dispatcher.test.dataSource),
  ).record({
    ...{ notification, response, result },
    ...{ startedAt: now, endedAt: now },
  });
}
const DELIVERED: AttemptResult = { outcome: 'acknowledged', state: 'delivered', nextAttemptAt: undefined };
const GONE: AttemptResult = { outcome: 'refused', state: 'gone', nextAttemptAt: undefined };

describe.each(['success', 'failed'] as const)(
  'a worker whose lease of a %s has ended, while another one holds it',
  (state) => {
    async function taken(): Promise<{
      stale: LeasedNotification;
      held: LeasedNotification;
      before: NotificationRow;
    }> {
      const { id } = await recorded({ state });
      const [stale] = await claim();
      dispatcher.clock.advance(LEASE_MS);
      const [held] = await claim();
      expect([stale!.id, held!.id]).toEqual([id, id]);
      return { stale: stale!, held: held!, before: await rowOf(id) };
    }

    test.each([
      ['delivered', DELIVERED, 200],
      ['gone', GONE, 410],
    ] as const)('records no result: %s', async (_, result, statusCode) => {
      const { stale, held, before } = await taken();
      expect(await write(stale, result, statusCode)).toBe(false);
      expect(await rowOf(held.id)).toEqual(before);
      expect(await query(`SELECT * FROM delivery_attempts`)).toEqual([]);
      expect(await write(held, result, statusCode)).toBe(true);
      expect(await rowOf(held.id)).toMatchObject({ state: result.state, tries: 1, lease_id: null });
    });

    test.each([true, false])('releases nothing; with a time: %s', async (hasTime) => {
      const { stale, held, before } = await taken();
      await new DeliveryLeaseRepository(dispatcher.test.dataSource).release(
        stale,
        hasTime ? dispatcher.clock.now() : undefined,
      );
      expect(await rowOf(held.id)).toEqual(before);
    });
  },
);

describe('a result of one of several under the same lease', () => {
  test.each(['success', 'failed'] as const)('changes no other: %s', async (state) => {
    for (let count = 0; count < 3; count++) await recorded({ state });
    const [one, ...others] = await claim();
    const before = await Promise.all(others.map(({ id }) => rowOf(id)));
    expect(await write(one!, DELIVERED, 200)).toBe(true);
    expect(await Promise.all(others.map(({ id }) => rowOf(id)))).toEqual(before);
    expect(await query(`SELECT notification_id AS id FROM delivery_attempts`)).toEqual([{ id: one!.id }]);
    await new DeliveryLeaseRepository(dispatcher.test.dataSource).release(
      others[0]!,
      dispatcher.clock.later(7 * SECOND),
    );
    expect(await rowOf(others[0]!.id)).toMatchObject({
      state: 'pending',
      lease_id: null,
      next_attempt_at: dispatcher.clock.later(7 * SECOND),
    });
    expect(await rowOf(others[1]!.id)).toEqual(before[1]);
  });
});

describe('a released notification', () => {
  test('without a time is exhausted', async () => {
    await recorded();
    const [one] = await claim();
    await new DeliveryLeaseRepository(dispatcher.test.dataSource).release(one!, undefined);
    expect(await rowOf(one!.id)).toMatchObject({ state: 'exhausted', next_attempt_at: null, lease_id: null });
  });

  test.each([true, false])('that was superseded meanwhile only loses its lease; with a time: %s', async (hasTime) => {
    await recorded({ state: 'failed' });
    const [one] = await claim();
    await change(one!.id, `state = 'superseded', next_attempt_at = NULL`);
    await new DeliveryLeaseRepository(dispatcher.test.dataSource).release(
      one!,
      hasTime ? dispatcher.clock.now() : undefined,
    );
    expect(await rowOf(one!.id)).toMatchObject({ state: 'superseded', next_attempt_at: null, lease_id: null });
  });
});

test.each([
  ['stays superseded where it was refused', GONE, 410, 'superseded'],
  ['is delivered where it was acknowledged', DELIVERED, 200, 'delivered'],
] as const)('a Failed that was superseded on the wire %s', async (_, result, statusCode, state) => {
  await recorded({ state: 'failed' });
  const [one] = await claim();
  await change(one!.id, `state = 'superseded', next_attempt_at = NULL`);
  expect(await write(one!, result, statusCode)).toBe(true);
  expect(await rowOf(one!.id)).toMatchObject({ state, tries: 1, next_attempt_at: null });
});

describe('a circuit', () => {
  const others = [
    [7, 'other.example:443'],
    [8, HOST],
  ] as const;
  const open = (merchantId: number, endpoint: string, until: Date, probe: string | null = null): Promise<unknown> =>
    query(
      `INSERT INTO circuits (merchant_id, endpoint, failures, openings, open_until, probe_lease_id) VALUES ($1, $2, 5, 1, $3, $4)`,
      [merchantId, endpoint, until, probe],
    );
  const left = async (): Promise<unknown[]> => {
    const rows = await query<{ merchant_id: number; endpoint: string; failures: number }[]>(
      `SELECT merchant_id, endpoint, failures FROM circuits ORDER BY merchant_id, endpoint`,
    );
    return rows.map(({ merchant_id, endpoint, failures }) => [merchant_id, endpoint, failures]);
  };

  test('is closed by a response of its own endpoint and merchant, not by a failure', async () => {
    for (const [merchantId, endpoint] of others) await open(merchantId, endpoint, dispatcher.clock.later(60_000));
    for (let count = 0; count < 2; count++) await recorded();
    const [lives, fails] = await claim();
    await open(7, HOST, dispatcher.clock.later(60_000));
    await write(fails!, { outcome: 'unanswered', state: 'pending', nextAttemptAt: dispatcher.clock.now() }, undefined);
    expect(await left()).toHaveLength(3);
    await write(lives!, GONE, 410);
    expect(await left()).toEqual([
      [7, 'other.example:443', 5],
      [8, HOST, 5],
    ]);
  });

  test('counts a failure of its own endpoint and merchant', async () => {
    for (const [merchantId, endpoint] of others) await open(merchantId, endpoint, dispatcher.clock.later(60_000));
    const failure = { merchantId: 7, endpoint: HOST, leaseId: randomUUID() };
    await new CountFailure(dispatcher.test.dataSource, new CircuitRepository()).execute(
      failure,
      dispatcher.clock.now(),
    );
    expect(await left()).toEqual([
      [7, 'other.example:443', 5],
      [7, HOST, 1],
      [8, HOST, 5],
    ]);
  });

  test('allows no notification until its millisecond, then one', async () => {
    for (let count = 0; count < 3; count++) await recorded();
    await open(7, HOST, dispatcher.clock.later(1));
    expect(await claim()).toEqual([]);
    dispatcher.clock.advance(1);
    expect(await claim()).toHaveLength(1);
    expect(await claim()).toEqual([]);
  });

  test('of another endpoint or merchant blocks nothing, and its waiting notifications use no slot', async () => {
    for (const [merchantId, endpoint] of others) await open(merchantId, endpoint, dispatcher.clock.later(60_000));
    await dispatcher.deliverPayments(dispatcher.newPayment('https://other.example/hook'));
    dispatcher.clock.advance(1);
    for (let count = 0; count < 3; count++) await recorded();
    expect(await claim({ max: 3 })).toHaveLength(3);
  });

  describe('whose probe has failed exhausts notifications that are overdue for too long', () => {
    const leaseId = randomUUID();
    const fail = async (over = {}): Promise<number> => {
      await open(7, HOST, dispatcher.clock.now(), leaseId);
      const failure = { merchantId: 7, endpoint: HOST, leaseId, ...over };
      return (
        await new CountFailure(dispatcher.test.dataSource, new CircuitRepository()).execute(
          failure,
          dispatcher.clock.now(),
        )
      ).exhausted;
    };
    const at = (ms: number): Date => dispatcher.clock.later(-ms);
    /** Exactly at the limits. */
    async function overdue(): Promise<string> {
      const { id } = await recorded();
      await change(id, `next_attempt_at = $2, created_at = $3`, at(300_000), at(MAX_SCHEDULE_MS));
      return id;
    }

    test('of its endpoint and merchant only', async () => {
      const ids = [await overdue(), await overdue()];
      expect(await fail()).toBe(2);
      for (const id of ids) expect(await rowOf(id)).toMatchObject({ state: 'exhausted', next_attempt_at: null });
    });

    test.each<[string, (id: string) => Promise<unknown>]>([
      ['of another merchant', (id) => change(id, `merchant_id = 8`)],
      ['of another endpoint', (id) => change(id, `endpoint = 'other.example:443'`)],
      ['delivered', (id) => change(id, `state = 'delivered', delivered_at = now(), next_attempt_at = NULL`)],
      ['due a millisecond later', (id) => change(id, `next_attempt_at = $2`, at(299_999))],
      ['made a millisecond later', (id) => change(id, `created_at = $2`, at(MAX_SCHEDULE_MS - 1))],
      ['replayed since', (id) => change(id, `replayed_at = $2`, at(MAX_SCHEDULE_MS - 1))],
      ['being sent', (id) => change(id, `lease_id = $2, leased_until = $3`, randomUUID(), at(-1))],
    ])('not what is %s', async (_, tamper) => {
      const id = await overdue();
      await tamper(id);
      const before = await rowOf(id);
      expect(await fail()).toBe(0);
      expect(await rowOf(id)).toEqual(before);
    });

    test('also when the lease ends now, and not after a failure of another attempt than the probe', async () => {
      const id = await overdue();
      await change(id, `lease_id = $2, leased_until = $3`, randomUUID(), at(0));
      expect(await fail({ leaseId: randomUUID() })).toBe(0);
      await query(`DELETE FROM circuits`);
      expect(await fail()).toBe(1);
    });
  });
});

describe('a notification is leased', () => {
  test.each([
    ['when it is due', `next_attempt_at = $2`, [0], 1],
    ['not a millisecond before', `next_attempt_at = $2`, [1], 0],
    ['when the lease on it ends', `lease_id = gen_random_uuid(), leased_until = $2`, [0], 1],
    ['not a millisecond before', `lease_id = gen_random_uuid(), leased_until = $2`, [1], 0],
    ['when it waits for longer than others', `next_attempt_at = $2`, [-30_000], 1],
  ] as const)('%s: %s', async (_, columns, [ms], count) => {
    const { id } = await recorded();
    await change(id, columns, dispatcher.clock.later(ms));
    expect(await claim()).toHaveLength(count);
  });

  test.each([
    ['a Success', 'success', 1, 0],
    ['a Success', 'success', 0, 1],
    ['another Failed', 'failed', 1, 1],
  ] as const)('%s (%s) of a session with a Failed under a lease of %d ms: %d', async (_, state, ms, count) => {
    const sessionId = randomUUID();
    const failed = await recorded({ sessionId, state: 'failed' });
    const other = await recorded({ sessionId, state });
    await change(
      failed.id,
      `state = 'superseded', next_attempt_at = NULL, lease_id = gen_random_uuid(), leased_until = $2`,
      dispatcher.clock.later(ms),
    );
    await change(other.id, `state = 'pending', next_attempt_at = $2`, dispatcher.clock.now());
    expect(idsOf(await claim())).toEqual(count === 1 ? [other.id] : []);
  });

  test('regardless of leases in other sessions, and of leases in its own that are not of a Failed', async () => {
    const sessionId = randomUUID();
    const [failed, success] = [await recorded({ state: 'failed' }), await recorded({ sessionId })];
    for (const { id } of [failed, success])
      await change(id, `lease_id = gen_random_uuid(), leased_until = $2`, dispatcher.clock.later(1));
    const other = await recorded({ sessionId });
    expect(idsOf(await claim())).toEqual([other.id]);
  });

  test('up to the limits, with the requests in flight to its merchant and endpoint', async () => {
    for (let count = 0; count < 5; count++) await recorded();
    const bounds = { maxPerEndpoint: 3, maxPerMerchant: 4 };
    const busy = (merchantId: number, endpoint: string, inFlight: number) => [{ merchantId, endpoint, inFlight }];
    const counts: number[] = [];
    for (const wire of [
      busy(7, HOST, 2),
      busy(8, HOST, 2),
      busy(7, 'other.example:443', 2),
      busy(7, HOST, 3),
      busy(7, 'other.example:443', 4),
    ]) {
      counts.push((await claim({ ...bounds, usage: wire })).length);
      await query(`UPDATE notifications SET lease_id = NULL, leased_until = NULL, next_attempt_at = created_at`);
    }
    expect(counts).toEqual([1, 3, 2, 0, 0]);
  });
});

test.each([
  [5_000, 1, 'delivered'],
  [4_999, 0, 'pending'],
])('with %d ms of its lease left a notification is posted %d times', async (ms, posts, state) => {
  const receiver = await Receiver.start();
  const payment: HostedPaymentSnapshot = dispatcher.newPayment(receiver.url);
  await dispatcher.deliverPayments(payment);
  const [one] = await claim({ leasedUntil: dispatcher.clock.later(ms) });
  const options = { timeoutMs: 5_000, abortSignal: new AbortController().signal, onRequestEnded: () => undefined };
  await dispatcher.test.service.app.get(SendNotification).send(one!, options);
  expect([receiver.received.length, (await dispatcher.getNotificationRow(payment)).state]).toEqual([posts, state]);
  await receiver.stop();
});
