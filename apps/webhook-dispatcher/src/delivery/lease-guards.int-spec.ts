/**
 * Tests the conditions of a lease and the conditions of recording a result, one by one. In each test only one condition
 * is false. A Success is the notification of a successful payment, a Failed is the notification of a failed payment.
 */
import { randomUUID } from 'node:crypto';
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { DispatcherUnderTest, type NotificationRow } from '../../test/dispatcher.js';
import { Receiver } from '../../test/receiver.js';
import { MIN_OVERDUE_MS } from '../retries/circuit.js';
import type { DeliveryAttemptResult } from '../retries/classify-response.js';
import { MAX_SCHEDULE_MS } from '../retries/retry-schedule.js';
import { CircuitRepository } from './circuit.repository.js';
import { CountFailure } from './count-failure.js';
import { DeliveryAttemptRepository } from './delivery-attempt.repository.js';
import { DeliveryAttemptRecorder } from './delivery-attempt-recorder.js';
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
const leaseDue = (overrides: Partial<LeaseRequest> = {}): Promise<LeasedNotification[]> =>
  new DeliveryLeaseRepository(dispatcher.test.dataSource).leaseDue({
    now: dispatcher.clock.now(),
    leaseId: randomUUID(),
    leasedUntil: dispatcher.clock.later(LEASE_MS),
    max: 50,
    maxPerMerchant: 50,
    maxPerEndpoint: 50,
    usage: [],
    ...overrides,
  });
const sortedIds = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id).sort();

async function recordNotification(
  options: Parameters<DispatcherUnderTest['newPayment']>[1] = {},
): Promise<NotificationRow> {
  const payment = dispatcher.newPayment(ENDPOINT, options);
  await dispatcher.deliverPayments(payment);
  return dispatcher.getNotificationRow(payment);
}
const readRow = async (id: string): Promise<NotificationRow> =>
  (await query<NotificationRow[]>(`SELECT * FROM notifications WHERE id = $1`, [id]))[0]!;
const updateNotification = (id: string, columns: string, ...values: unknown[]): Promise<unknown> =>
  query(`UPDATE notifications SET ${columns} WHERE id = $1`, [id, ...values]);

function recordResult(
  notification: LeasedNotification,
  result: DeliveryAttemptResult,
  statusCode: number | undefined,
): Promise<boolean> {
  const now = dispatcher.clock.now();
  const response = { durationMs: 1, ...(statusCode === undefined ? { errorClass: 'timeout' } : { statusCode }) };
  return new DeliveryAttemptRecorder(
    new DeliveryAttemptRepository(dispatcher.test.dataSource),
    new DueSignal(dispatcher.test.dataSource),
  ).record({
    ...{ notification, response, result },
    ...{ startedAt: now, endedAt: now },
  });
}
const DELIVERED: DeliveryAttemptResult = { outcome: 'acknowledged', state: 'delivered', nextAttemptAt: undefined };
const GONE: DeliveryAttemptResult = { outcome: 'refused', state: 'gone', nextAttemptAt: undefined };

describe.each(['success', 'failed'] as const)(
  'a worker that has lost its lease of a %s notification to another worker',
  (state) => {
    /** Leases a notification twice, the second time after the first lease has ended. */
    async function loseLease(): Promise<{
      lostLease: LeasedNotification;
      currentLease: LeasedNotification;
      before: NotificationRow;
    }> {
      const { id } = await recordNotification({ state });
      const [lostLease] = await leaseDue();
      dispatcher.clock.advance(LEASE_MS);
      const [currentLease] = await leaseDue();
      expect([lostLease!.id, currentLease!.id]).toEqual([id, id]);
      return { lostLease: lostLease!, currentLease: currentLease!, before: await readRow(id) };
    }

    test.each([
      ['delivered', DELIVERED, 200],
      ['gone', GONE, 410],
    ] as const)('does not record the result %s', async (_, result, statusCode) => {
      const { lostLease, currentLease, before } = await loseLease();
      expect(await recordResult(lostLease, result, statusCode)).toBe(false);
      expect(await readRow(currentLease.id)).toEqual(before);
      expect(await query(`SELECT * FROM delivery_attempts`)).toEqual([]);
      expect(await recordResult(currentLease, result, statusCode)).toBe(true);
      expect(await readRow(currentLease.id)).toMatchObject({ state: result.state, attempt_count: 1, lease_id: null });
    });

    test.each([true, false])('does not release the notification (a next attempt is planned: %s)', async (hasTime) => {
      const { lostLease, currentLease, before } = await loseLease();
      await new DeliveryLeaseRepository(dispatcher.test.dataSource).release(
        lostLease,
        hasTime ? dispatcher.clock.now() : undefined,
      );
      expect(await readRow(currentLease.id)).toEqual(before);
    });
  },
);

describe('the result of one of several leased notifications', () => {
  test.each(['success', 'failed'] as const)('changes only this notification (%s)', async (state) => {
    for (let count = 0; count < 3; count++) await recordNotification({ state });
    const [leased, ...others] = await leaseDue();
    const before = await Promise.all(others.map(({ id }) => readRow(id)));
    expect(await recordResult(leased!, DELIVERED, 200)).toBe(true);
    expect(await Promise.all(others.map(({ id }) => readRow(id)))).toEqual(before);
    expect(await query(`SELECT notification_id AS id FROM delivery_attempts`)).toEqual([{ id: leased!.id }]);
    await new DeliveryLeaseRepository(dispatcher.test.dataSource).release(
      others[0]!,
      dispatcher.clock.later(7 * SECOND),
    );
    expect(await readRow(others[0]!.id)).toMatchObject({
      state: 'pending',
      lease_id: null,
      next_attempt_at: dispatcher.clock.later(7 * SECOND),
    });
    expect(await readRow(others[1]!.id)).toEqual(before[1]);
  });
});

describe('a released notification', () => {
  test('is exhausted if no next attempt is planned', async () => {
    await recordNotification();
    const [leased] = await leaseDue();
    await new DeliveryLeaseRepository(dispatcher.test.dataSource).release(leased!, undefined);
    expect(await readRow(leased!.id)).toMatchObject({ state: 'exhausted', next_attempt_at: null, lease_id: null });
  });

  test.each([true, false])(
    'stays superseded if it was superseded while it was leased (a next attempt is planned: %s)',
    async (hasTime) => {
      await recordNotification({ state: 'failed' });
      const [leased] = await leaseDue();
      await updateNotification(leased!.id, `state = 'superseded', next_attempt_at = NULL`);
      await new DeliveryLeaseRepository(dispatcher.test.dataSource).release(
        leased!,
        hasTime ? dispatcher.clock.now() : undefined,
      );
      expect(await readRow(leased!.id)).toMatchObject({ state: 'superseded', next_attempt_at: null, lease_id: null });
    },
  );
});

test.each([
  ['stays superseded if the endpoint rejects it', GONE, 410, 'superseded'],
  ['is delivered if the endpoint acknowledges it', DELIVERED, 200, 'delivered'],
] as const)('a Failed that is superseded while in flight %s', async (_, result, statusCode, state) => {
  await recordNotification({ state: 'failed' });
  const [leased] = await leaseDue();
  await updateNotification(leased!.id, `state = 'superseded', next_attempt_at = NULL`);
  expect(await recordResult(leased!, result, statusCode)).toBe(true);
  expect(await readRow(leased!.id)).toMatchObject({ state, attempt_count: 1, next_attempt_at: null });
});

describe('a circuit', () => {
  const otherKeys = [
    [7, 'other.example:443'],
    [8, HOST],
  ] as const;
  const insertCircuit = (
    merchantId: number,
    endpoint: string,
    until: Date,
    probe: string | null = null,
  ): Promise<unknown> =>
    query(
      `INSERT INTO circuits (merchant_id, endpoint, failures, openings, open_until, probe_lease_id) VALUES ($1, $2, 5, 1, $3, $4)`,
      [merchantId, endpoint, until, probe],
    );
  const readCircuits = async (): Promise<unknown[]> => {
    const rows = await query<{ merchant_id: number; endpoint: string; failures: number }[]>(
      `SELECT merchant_id, endpoint, failures FROM circuits ORDER BY merchant_id, endpoint`,
    );
    return rows.map(({ merchant_id, endpoint, failures }) => [merchant_id, endpoint, failures]);
  };

  test('is closed by a response of its endpoint to a notification of its merchant, not by a failure', async () => {
    for (const [merchantId, endpoint] of otherKeys)
      await insertCircuit(merchantId, endpoint, dispatcher.clock.later(60_000));
    for (let count = 0; count < 2; count++) await recordNotification();
    const [succeeding, failing] = await leaseDue();
    await insertCircuit(7, HOST, dispatcher.clock.later(60_000));
    await recordResult(
      failing!,
      { outcome: 'unanswered', state: 'pending', nextAttemptAt: dispatcher.clock.now() },
      undefined,
    );
    expect(await readCircuits()).toHaveLength(3);
    await recordResult(succeeding!, GONE, 410);
    expect(await readCircuits()).toEqual([
      [7, 'other.example:443', 5],
      [8, HOST, 5],
    ]);
  });

  test('counts only failures of its own merchant and endpoint', async () => {
    for (const [merchantId, endpoint] of otherKeys)
      await insertCircuit(merchantId, endpoint, dispatcher.clock.later(60_000));
    const failure = { merchantId: 7, endpoint: HOST, leaseId: randomUUID() };
    await new CountFailure(dispatcher.test.dataSource, new CircuitRepository(dispatcher.test.dataSource)).execute(
      failure,
      dispatcher.clock.now(),
    );
    expect(await readCircuits()).toEqual([
      [7, 'other.example:443', 5],
      [7, HOST, 1],
      [8, HOST, 5],
    ]);
  });

  test('allows no notification before open_until, and one notification from that millisecond on', async () => {
    for (let count = 0; count < 3; count++) await recordNotification();
    await insertCircuit(7, HOST, dispatcher.clock.later(1));
    expect(await leaseDue()).toEqual([]);
    dispatcher.clock.advance(1);
    expect(await leaseDue()).toHaveLength(1);
    expect(await leaseDue()).toEqual([]);
  });

  test('blocks only notifications of its own merchant and endpoint', async () => {
    for (const [merchantId, endpoint] of otherKeys)
      await insertCircuit(merchantId, endpoint, dispatcher.clock.later(60_000));
    await dispatcher.deliverPayments(dispatcher.newPayment('https://other.example/hook'));
    dispatcher.clock.advance(1);
    for (let count = 0; count < 3; count++) await recordNotification();
    expect(await leaseDue({ max: 3 })).toHaveLength(3);
  });

  describe('with a failed probe', () => {
    const leaseId = randomUUID();
    const failProbe = async (overrides = {}): Promise<number> => {
      await insertCircuit(7, HOST, dispatcher.clock.now(), leaseId);
      const failure = { merchantId: 7, endpoint: HOST, leaseId, ...overrides };
      return (
        await new CountFailure(dispatcher.test.dataSource, new CircuitRepository(dispatcher.test.dataSource)).execute(
          failure,
          dispatcher.clock.now(),
        )
      ).exhausted;
    };
    const ago = (ms: number): Date => dispatcher.clock.later(-ms);
    /** Records a notification whose age and due time are exactly at the limits. Returns its id. */
    async function recordOverdue(): Promise<string> {
      const { id } = await recordNotification();
      await updateNotification(id, `next_attempt_at = $2, created_at = $3`, ago(MIN_OVERDUE_MS), ago(MAX_SCHEDULE_MS));
      return id;
    }

    test('exhausts overdue notifications of its merchant and endpoint', async () => {
      const ids = [await recordOverdue(), await recordOverdue()];
      expect(await failProbe()).toBe(2);
      for (const id of ids) expect(await readRow(id)).toMatchObject({ state: 'exhausted', next_attempt_at: null });
    });

    test.each<[string, (id: string) => Promise<unknown>]>([
      ['of another merchant', (id) => updateNotification(id, `merchant_id = 8`)],
      ['of another endpoint', (id) => updateNotification(id, `endpoint = 'other.example:443'`)],
      [
        'delivered',
        (id) => updateNotification(id, `state = 'delivered', delivered_at = now(), next_attempt_at = NULL`),
      ],
      [
        'overdue for one millisecond less than the limit',
        (id) => updateNotification(id, `next_attempt_at = $2`, ago(MIN_OVERDUE_MS - 1)),
      ],
      ['one millisecond too young', (id) => updateNotification(id, `created_at = $2`, ago(MAX_SCHEDULE_MS - 1))],
      [
        'replayed one millisecond after the limit',
        (id) => updateNotification(id, `replayed_at = $2`, ago(MAX_SCHEDULE_MS - 1)),
      ],
      ['being sent', (id) => updateNotification(id, `lease_id = $2, leased_until = $3`, randomUUID(), ago(-1))],
    ])('does not exhaust a notification that is %s', async (_, changeOneCondition) => {
      const id = await recordOverdue();
      await changeOneCondition(id);
      const before = await readRow(id);
      expect(await failProbe()).toBe(0);
      expect(await readRow(id)).toEqual(before);
    });

    test('exhausts an overdue notification whose lease ends now', async () => {
      const id = await recordOverdue();
      await updateNotification(id, `lease_id = $2, leased_until = $3`, randomUUID(), ago(0));
      // The failed attempt has another lease than the probe, so it exhausts nothing.
      expect(await failProbe({ leaseId: randomUUID() })).toBe(0);
      await query(`DELETE FROM circuits`);
      expect(await failProbe()).toBe(1);
    });
  });
});

describe('a notification', () => {
  const LEASED_UNTIL = `lease_id = gen_random_uuid(), leased_until = $2`;

  test.each([
    { title: 'is leased when it is due now', columns: `next_attempt_at = $2`, ms: 0, count: 1 },
    { title: 'is not leased a millisecond before it is due', columns: `next_attempt_at = $2`, ms: 1, count: 0 },
    { title: 'is leased again when its lease ends now', columns: LEASED_UNTIL, ms: 0, count: 1 },
    { title: 'is not leased a millisecond before its lease ends', columns: LEASED_UNTIL, ms: 1, count: 0 },
    {
      title: 'is leased after it has been due for 30 seconds (backlog)',
      columns: `next_attempt_at = $2`,
      ms: -30_000,
      count: 1,
    },
  ])('$title', async ({ columns, ms, count }) => {
    const { id } = await recordNotification();
    await updateNotification(id, columns, dispatcher.clock.later(ms));
    expect(await leaseDue()).toHaveLength(count);
  });

  test.each([
    {
      title: 'is not leased if its status is Success and a Failed of its session is leased',
      state: 'success',
      ms: 1,
      count: 0,
    },
    {
      title: 'is leased if its status is Success and the lease of the Failed ends now',
      state: 'success',
      ms: 0,
      count: 1,
    },
    {
      title: 'is leased if its status is Failed and another Failed of its session is leased',
      state: 'failed',
      ms: 1,
      count: 1,
    },
  ] as const)('$title', async ({ state, ms, count }) => {
    const sessionId = randomUUID();
    const failed = await recordNotification({ sessionId, state: 'failed' });
    const other = await recordNotification({ sessionId, state });
    await updateNotification(
      failed.id,
      `state = 'superseded', next_attempt_at = NULL, lease_id = gen_random_uuid(), leased_until = $2`,
      dispatcher.clock.later(ms),
    );
    await updateNotification(other.id, `state = 'pending', next_attempt_at = $2`, dispatcher.clock.now());
    expect(sortedIds(await leaseDue())).toEqual(count === 1 ? [other.id] : []);
  });

  test('is leased although a Failed of another session and a Success of its own session are leased', async () => {
    const sessionId = randomUUID();
    const [failed, success] = [await recordNotification({ state: 'failed' }), await recordNotification({ sessionId })];
    for (const { id } of [failed, success])
      await updateNotification(id, `lease_id = gen_random_uuid(), leased_until = $2`, dispatcher.clock.later(1));
    const other = await recordNotification({ sessionId });
    expect(sortedIds(await leaseDue())).toEqual([other.id]);
  });

  test('is leased only while the requests in flight to its merchant and endpoint are below the limits', async () => {
    for (let count = 0; count < 5; count++) await recordNotification();
    const limits = { maxPerEndpoint: 3, maxPerMerchant: 4 };
    const inFlightTo = (merchantId: number, endpoint: string, inFlight: number) => [{ merchantId, endpoint, inFlight }];
    const counts: number[] = [];
    for (const usage of [
      inFlightTo(7, HOST, 2),
      inFlightTo(8, HOST, 2),
      inFlightTo(7, 'other.example:443', 2),
      inFlightTo(7, HOST, 3),
      inFlightTo(7, 'other.example:443', 4),
    ]) {
      counts.push((await leaseDue({ ...limits, usage })).length);
      await query(`UPDATE notifications SET lease_id = NULL, leased_until = NULL, next_attempt_at = created_at`);
    }
    expect(counts).toEqual([1, 3, 2, 0, 0]);
  });
});

test.each([
  [5_000, 1, 'delivered'],
  [4_999, 0, 'pending'],
])('a notification with a timeout of 5 s and a lease of %d ms is posted %d times', async (ms, postCount, state) => {
  const receiver = await Receiver.start();
  const payment: HostedPaymentSnapshot = dispatcher.newPayment(receiver.url);
  await dispatcher.deliverPayments(payment);
  const [leased] = await leaseDue({ leasedUntil: dispatcher.clock.later(ms) });
  const options = { timeoutMs: 5_000, abortSignal: new AbortController().signal, onRequestEnded: () => undefined };
  await dispatcher.test.service.app.get(SendNotification).send(leased!, options);
  expect([receiver.received.length, (await dispatcher.getNotificationRow(payment)).state]).toEqual([postCount, state]);
  await receiver.stop();
});
