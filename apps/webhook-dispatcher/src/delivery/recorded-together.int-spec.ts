/** Attempts that end at the same time share a statement, and each has its own result. */
import { randomUUID } from 'node:crypto';
import { type HeldLocks, holdLocks, terminateBlockedBackend, waitForBlockedBackends } from '@svc/testing';
import { DispatcherUnderTest, type NotificationRow } from '../../test/dispatcher.js';
import { AttemptRecorder } from './attempt-recorder.js';
import { DeliveryAttemptRepository } from './delivery-attempt.repository.js';
import { DeliveryLeaseRepository, type LeasedNotification } from './delivery-lease.repository.js';
import { DueSignal } from './due-signal.js';

const LEASE_MS = 30_000;

let dispatcher: DispatcherUnderTest;
let recorder: AttemptRecorder;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  await dispatcher.deliverDefaultSecrets();
});
beforeEach(() => {
  recorder = new AttemptRecorder(
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
const claim = (): Promise<LeasedNotification[]> =>
  new DeliveryLeaseRepository(dispatcher.test.dataSource).leaseDue({
    now: dispatcher.clock.now(),
    leaseId: randomUUID(),
    leasedUntil: dispatcher.clock.later(LEASE_MS),
    ...{ max: 200, maxPerMerchant: 200, maxPerEndpoint: 200, usage: [] },
  });
async function claimed(count: number): Promise<LeasedNotification[]> {
  await dispatcher.deliverPayments(...Array.from({ length: count }, () => dispatcher.newPayment('https://shop.example/hook')));
  return claim();
}
const write = (notification: LeasedNotification, durationMs = 1): Promise<boolean> =>
  recorder.record({
    notification,
    response: { statusCode: 200, durationMs },
    result: { outcome: 'acknowledged', state: 'delivered', nextAttemptAt: undefined },
    ...{ startedAt: dispatcher.clock.now(), endedAt: dispatcher.clock.now() },
  });
const holdElsewhere = (...given: readonly LeasedNotification[]): Promise<HeldLocks> =>
  holdLocks(dispatcher.test.dataSource, `SELECT FROM notifications WHERE id = ANY ($1::uuid[]) FOR UPDATE`, [
    given.map(({ id }) => id),
  ]);
/** State, number of attempts and attempts of each, in the order of the arguments. */
async function recorded(given: readonly LeasedNotification[]): Promise<string[]> {
  const rows = await query<(NotificationRow & { attempts: number })[]>(
    `SELECT *, (SELECT count(*) FROM delivery_attempts WHERE notification_id = id) AS attempts FROM notifications`,
  );
  return given.map(({ id }) => {
    const { state, tries, attempts } = rows.find((row) => row.id === id)!;
    return `${state} ${tries} ${attempts}`;
  });
}

test('of a hundred with one that the database rejects, only that one is not recorded', async () => {
  const [bad, given] = [60, await claimed(100)];
  const lock = await holdElsewhere(given[0]!);
  const results = Promise.allSettled(given.map((one, nth) => write(one, nth === bad ? -1 : nth)));
  await waitForBlockedBackends(dispatcher.test.dataSource, 1);
  await lock.release();
  for (const [nth, result] of (await results).entries())
    expect(result).toMatchObject(
      nth === bad
        ? { status: 'rejected', reason: { driverError: { code: '23514', constraint: 'delivery_attempts_duration' } } }
        : { status: 'fulfilled', value: true },
    );
  expect(await recorded(given)).toEqual(given.map((_, nth) => (nth === bad ? 'pending 0 0' : 'delivered 1 1')));
  const durations = await query<{ id: string; duration: number }[]>(
    `SELECT notification_id AS id, duration_ms AS duration FROM delivery_attempts`,
  );
  expect(new Map(durations.map(({ id, duration }) => [id, duration]))).toEqual(
    new Map(given.flatMap(({ id }, nth) => (nth === bad ? [] : [[id, nth]]))),
  );
});

test('a lease that was lost among others that hold, and both leases of one notification', async () => {
  const [stale] = await claimed(1);
  dispatcher.clock.advance(LEASE_MS);
  const [first, ...others] = await claimed(5);
  const held = [first!, ...others].find(({ id }) => id === stale!.id)!;
  const [alone, lost, ...good] = [first!, ...others].filter((one) => one !== held);
  const lock = await holdElsewhere(alone!);
  const sent = jest.spyOn(dispatcher.test.dataSource, 'query');
  const given = [alone!, { ...lost!, leaseId: randomUUID() }, stale!, held, ...good];
  const results = given.map((one) => write(one));
  await waitForBlockedBackends(dispatcher.test.dataSource, 1);
  await lock.release();
  expect(await Promise.all(results)).toEqual([true, false, false, true, ...good.map(() => true)]);
  // One for each notification, and one for the second lease of one of them.
  expect(sent.mock.calls.filter(([text]) => text.includes('INSERT INTO delivery_attempts'))).toHaveLength(1 + 2);
  expect(await recorded([alone!, lost!, held, ...good])).toEqual([
    ...['delivered 1 1', 'pending 0 0', 'delivered 1 1'],
    ...good.map(() => 'delivered 1 1'),
  ]);
});

test('none is recorded after the connection is lost, none is retried, and all are leased again after their leases', async () => {
  const [alone, blocked, ...others] = await claimed(51);
  const [first, second] = [await holdElsewhere(alone!), await holdElsewhere(blocked!)];
  const sent = jest.spyOn(dispatcher.test.dataSource, 'query');
  const written = write(alone!);
  const together = Promise.allSettled([blocked!, ...others].map((one) => write(one)));
  await waitForBlockedBackends(dispatcher.test.dataSource, 1);
  await first.release();
  expect(await written).toBe(true);
  await terminateBlockedBackend(dispatcher.test.dataSource);
  for (const result of await together)
    expect(result).toMatchObject({ status: 'rejected', reason: { driverError: { code: '57P01' } } });
  expect(sent.mock.calls.filter(([text]) => text.includes('INSERT INTO delivery_attempts'))).toHaveLength(2);
  await second.release();
  const given = [blocked!, ...others];
  expect(await recorded(given)).toEqual(given.map(() => 'pending 0 0'));
  expect(await claim()).toEqual([]);
  dispatcher.clock.advance(LEASE_MS);
  expect((await claim()).map(({ id }) => id).sort()).toEqual(given.map(({ id }) => id).sort());
});
