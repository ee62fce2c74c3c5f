/** Tests that attempts share a statement if they end at the same time, and that each attempt has its own result. */
import { randomUUID } from 'node:crypto';
import { type HeldLocks, holdLocks, terminateBlockedBackend, waitForBlockedBackends } from '@svc/testing';
import { DispatcherUnderTest, type NotificationRow } from '../../test/dispatcher.js';
import { DeliveryAttemptRepository } from './delivery-attempt.repository.js';
import { DeliveryAttemptRecorder } from './delivery-attempt-recorder.js';
import { DeliveryLeaseRepository, type LeasedNotification } from './delivery-lease.repository.js';
import { DueSignal } from './due-signal.js';

const LEASE_MS = 30_000;
/** Constraint delivery_attempts_duration rejects this value. */
const INVALID_DURATION_MS = -1;

let dispatcher: DispatcherUnderTest;
let recorder: DeliveryAttemptRecorder;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  await dispatcher.deliverDefaultSecrets();
});
beforeEach(() => {
  recorder = new DeliveryAttemptRecorder(
    new DeliveryAttemptRepository(dispatcher.test.dataSource),
    new DueSignal(dispatcher.test.dataSource),
  );
});
afterEach(async () => {
  jest.restoreAllMocks();
  await dispatcher.test.superuser.query(`TRUNCATE notifications, delivery_attempts, circuits`);
});
afterAll(() => dispatcher.test.stop());

const query = <T>(text: string, values: unknown[] = []): Promise<T> => dispatcher.test.dataSource.query(text, values);
const leaseAll = (): Promise<LeasedNotification[]> =>
  new DeliveryLeaseRepository(dispatcher.test.dataSource).leaseDue({
    now: dispatcher.clock.now(),
    leaseId: randomUUID(),
    leasedUntil: dispatcher.clock.later(LEASE_MS),
    ...{ max: 200, maxPerMerchant: 200, maxPerEndpoint: 200, usage: [] },
  });
async function recordAndLease(count: number): Promise<LeasedNotification[]> {
  await dispatcher.deliverPayments(
    ...Array.from({ length: count }, () => dispatcher.newPayment('https://shop.example/hook')),
  );
  return leaseAll();
}
const recordDelivered = (notification: LeasedNotification, durationMs = 1): Promise<boolean> =>
  recorder.record({
    notification,
    response: { statusCode: 200, durationMs },
    result: { outcome: 'acknowledged', state: 'delivered', nextAttemptAt: undefined },
    ...{ startedAt: dispatcher.clock.now(), endedAt: dispatcher.clock.now() },
  });
const lockRows = (...notifications: readonly LeasedNotification[]): Promise<HeldLocks> =>
  holdLocks(dispatcher.test.dataSource, `SELECT FROM notifications WHERE id = ANY ($1::uuid[]) FOR UPDATE`, [
    notifications.map(({ id }) => id),
  ]);
/** Returns `<state> <attempt count> <attempt rows>` of each notification. */
async function readStates(notifications: readonly LeasedNotification[]): Promise<string[]> {
  const rows = await query<(NotificationRow & { attempts: number })[]>(
    `SELECT *, (SELECT count(*) FROM delivery_attempts WHERE notification_id = id) AS attempts FROM notifications`,
  );
  return notifications.map(({ id }) => {
    const { state, attempt_count, attempts } = rows.find((row) => row.id === id)!;
    return `${state} ${attempt_count} ${attempts}`;
  });
}

test('if the database rejects one of a hundred results, the other results are recorded', async () => {
  const invalidIndex = 60;
  const notifications = await recordAndLease(100);
  await using lock = await lockRows(notifications[0]!);
  const results = Promise.allSettled(
    notifications.map((notification, nth) =>
      recordDelivered(notification, nth === invalidIndex ? INVALID_DURATION_MS : nth),
    ),
  );
  await waitForBlockedBackends(dispatcher.test.dataSource, 1);
  await lock.release();
  for (const [nth, result] of (await results).entries())
    expect(result).toMatchObject(
      nth === invalidIndex
        ? { status: 'rejected', reason: { driverError: { code: '23514', constraint: 'delivery_attempts_duration' } } }
        : { status: 'fulfilled', value: true },
    );
  expect(await readStates(notifications)).toEqual(
    notifications.map((_, nth) => (nth === invalidIndex ? 'pending 0 0' : 'delivered 1 1')),
  );
  const durations = await query<{ id: string; duration: number }[]>(
    `SELECT notification_id AS id, duration_ms AS duration FROM delivery_attempts`,
  );
  expect(new Map(durations.map(({ id, duration }) => [id, duration]))).toEqual(
    new Map(notifications.flatMap(({ id }, nth) => (nth === invalidIndex ? [] : [[id, nth]]))),
  );
});

test('a result under a lost lease is not recorded, although the result under the new lease arrives at the same time', async () => {
  const [expiredLease] = await recordAndLease(1);
  dispatcher.clock.advance(LEASE_MS);
  const leased = await recordAndLease(5);
  const renewedLease = leased.find(({ id }) => id === expiredLease!.id)!;
  const [first, lostLease, ...others] = leased.filter((notification) => notification !== renewedLease);
  await using lock = await lockRows(first!);
  const querySpy = jest.spyOn(dispatcher.test.dataSource, 'query');
  const notifications = [first!, { ...lostLease!, leaseId: randomUUID() }, expiredLease!, renewedLease, ...others];
  const results = notifications.map((notification) => recordDelivered(notification));
  await waitForBlockedBackends(dispatcher.test.dataSource, 1);
  await lock.release();
  expect(await Promise.all(results)).toEqual([true, false, false, true, ...others.map(() => true)]);
  // One statement records the first result, the second records most others, and the third records only the second
  // result of one notification, because one statement cannot record two results of the same notification.
  expect(querySpy.mock.calls.filter(([text]) => text.includes('INSERT INTO delivery_attempts'))).toHaveLength(1 + 2);
  expect(await readStates([first!, lostLease!, renewedLease, ...others])).toEqual([
    ...['delivered 1 1', 'pending 0 0', 'delivered 1 1'],
    ...others.map(() => 'delivered 1 1'),
  ]);
});

test('if the connection is lost, no result is recorded or retried, and all notifications are later leased again', async () => {
  const [first, blocked, ...others] = await recordAndLease(51);
  await using lockOnFirst = await lockRows(first!);
  await using lockOnBlocked = await lockRows(blocked!);
  const querySpy = jest.spyOn(dispatcher.test.dataSource, 'query');
  const firstRecorded = recordDelivered(first!);
  const recordedTogether = Promise.allSettled(
    [blocked!, ...others].map((notification) => recordDelivered(notification)),
  );
  await waitForBlockedBackends(dispatcher.test.dataSource, 1);
  await lockOnFirst.release();
  expect(await firstRecorded).toBe(true);
  await terminateBlockedBackend(dispatcher.test.dataSource);
  for (const result of await recordedTogether)
    expect(result).toMatchObject({ status: 'rejected', reason: { driverError: { code: '57P01' } } });
  expect(querySpy.mock.calls.filter(([text]) => text.includes('INSERT INTO delivery_attempts'))).toHaveLength(2);
  await lockOnBlocked.release();
  const notifications = [blocked!, ...others];
  expect(await readStates(notifications)).toEqual(notifications.map(() => 'pending 0 0'));
  expect(await leaseAll()).toEqual([]);
  dispatcher.clock.advance(LEASE_MS);
  expect((await leaseAll()).map(({ id }) => id).sort()).toEqual(notifications.map(({ id }) => id).sort());
});
