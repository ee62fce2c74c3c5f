/** Tests the effects of the result of an attempt: database statements, log messages, and the next lease request. */
import { randomUUID } from 'node:crypto';
import { holdLocks, waitForBlockedBackends } from '@svc/testing';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import { Receiver, respondWith } from '../../test/receiver.js';
import { MAX_BACKLOG_AGE_MS, MIN_OVERDUE_MS } from '../retries/circuit.js';
import { DeliveryAttemptRepository } from './delivery-attempt.repository.js';
import { DeliveryAttemptRecorder } from './delivery-attempt-recorder.js';
import { DeliveryLeaseRepository, type LeasedNotification } from './delivery-lease.repository.js';
import { DueSignal } from './due-signal.js';

let dispatcher: DispatcherUnderTest;
let receiver: Receiver;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  await dispatcher.deliverDefaultSecrets();
  receiver = await Receiver.start();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await dispatcher.test.superuser.query(`TRUNCATE notifications, delivery_attempts, circuits`);
});
afterAll(async () => {
  await receiver.stop();
  await dispatcher.test.stop();
});

const query = <T>(text: string, values: unknown[] = []): Promise<T> => dispatcher.test.dataSource.query(text, values);
const receiverEndpoint = (): string => `127.0.0.1:${receiver.port}`;
const later = (ms: number): Date => dispatcher.clock.later(ms);

async function recordNotification(state: 'success' | 'failed' = 'success'): Promise<string> {
  const payment = dispatcher.newPayment(receiver.url, { state });
  await dispatcher.deliverPayments(payment);
  return (await dispatcher.getNotificationRow(payment)).id;
}
const leaseAll = (): Promise<LeasedNotification[]> =>
  new DeliveryLeaseRepository(dispatcher.test.dataSource).leaseDue({
    now: dispatcher.clock.now(),
    leaseId: randomUUID(),
    leasedUntil: later(30_000),
    ...{ max: 50, maxPerMerchant: 50, maxPerEndpoint: 50, usage: [] },
  });
const recordDelivered = (recorder: DeliveryAttemptRecorder, notification: LeasedNotification): Promise<boolean> =>
  recorder.record({
    notification,
    response: { statusCode: 200, durationMs: 1 },
    result: { outcome: 'acknowledged', state: 'delivered', nextAttemptAt: undefined },
    ...{ startedAt: dispatcher.clock.now(), endedAt: dispatcher.clock.now() },
  });
const insertCircuit = (failures: number, openUntil: Date | null): Promise<unknown> =>
  query(
    `INSERT INTO circuits (merchant_id, endpoint, failures, openings, open_until) VALUES (7, $1, $2, CASE WHEN $3::timestamptz IS NULL THEN 0 ELSE 1 END, $3)`,
    [receiverEndpoint(), failures, openUntil],
  );

describe('results that arrive at the same time', () => {
  test.each([
    // The first statement records the first result. The second statement records the other three results together.
    { status: 'Success', state: 'success', statementCount: 2 },
    { status: 'Failed', state: 'failed', statementCount: 4 },
  ] as const)(
    'are recorded with $statementCount statements if they are the results of four $status notifications',
    async ({ state, statementCount }) => {
      for (let count = 0; count < 4; count++) await recordNotification(state);
      const leased = await leaseAll();
      const querySpy = jest.spyOn(dispatcher.test.dataSource, 'query');
      const recorder = new DeliveryAttemptRecorder(
        new DeliveryAttemptRepository(dispatcher.test.dataSource),
        new DueSignal(dispatcher.test.dataSource),
      );
      expect(await Promise.all(leased.map((notification) => recordDelivered(recorder, notification)))).toEqual([
        true,
        true,
        true,
        true,
      ]);
      expect(querySpy).toHaveBeenCalledTimes(statementCount);
    },
  );

  test('lock the circuits of their endpoints in a fixed order, so that two statements cannot deadlock', async () => {
    const endpoints = ['c.example:443', 'a.example:443', 'b.example:443'];
    for (const host of endpoints)
      await query(`INSERT INTO circuits (merchant_id, endpoint, failures, openings) VALUES (7, $1, 1, 0)`, [host]);
    for (let count = 0; count < 4; count++) await recordNotification();
    const [first, ...leased] = await leaseAll();
    await using lock = await holdLocks(
      dispatcher.test.dataSource,
      `SELECT FROM circuits WHERE endpoint = 'a.example:443' FOR UPDATE`,
    );
    const recorder = new DeliveryAttemptRecorder(
      new DeliveryAttemptRepository(dispatcher.test.dataSource),
      new DueSignal(dispatcher.test.dataSource),
    );
    const recording = [
      recordDelivered(recorder, first!),
      ...leased.map((notification, nth) => recordDelivered(recorder, { ...notification, endpoint: endpoints[nth]! })),
    ];
    await waitForBlockedBackends(dispatcher.test.dataSource, 1);
    const unlockedCircuits = await query(`SELECT endpoint FROM circuits ORDER BY endpoint FOR UPDATE SKIP LOCKED`);
    await lock.release();
    expect(await Promise.all(recording)).toEqual([true, true, true, true]);
    expect(unlockedCircuits).toEqual([{ endpoint: 'b.example:443' }, { endpoint: 'c.example:443' }]);
  });
});

describe('the log', () => {
  const ATTEMPTED = 'notification attempted';
  const GIVEN_UP = 'notification given up';
  const CIRCUIT_OPENED = 'endpoint is failing: circuit breaker opened';
  const EXHAUSTED_BEHIND_CIRCUIT = 'notifications given up behind an open circuit';
  async function runAndReadLog(): Promise<unknown[]> {
    const { log } = dispatcher.test.service;
    const [info, warn] = [jest.spyOn(log, 'info'), jest.spyOn(log, 'warn')];
    await dispatcher.runStep();
    return [...info.mock.calls, ...warn.mock.calls].map((call) => (call as unknown[])[1]);
  }

  test.each([
    { title: 'an acknowledged notification', status: 200, earlierAttempts: 0, messages: [ATTEMPTED] },
    { title: 'a rejected notification', status: 500, earlierAttempts: 0, messages: [ATTEMPTED] },
    { title: 'a notification that was rejected twelve times', status: 500, earlierAttempts: 11, messages: [GIVEN_UP] },
    { title: 'a notification whose endpoint responds 410', status: 410, earlierAttempts: 0, messages: [GIVEN_UP] },
  ])('contains one message about $title', async ({ status, earlierAttempts, messages }) => {
    receiver.setBehaviours(respondWith(status));
    const id = await recordNotification();
    await query(`UPDATE notifications SET schedule_position = $2 WHERE id = $1`, [id, earlierAttempts]);
    expect(await runAndReadLog()).toEqual(messages);
  });

  test('contains a message about a circuit when it opens', async () => {
    receiver.setBehaviours(respondWith(500));
    await insertCircuit(3, null);
    await recordNotification();
    expect(await runAndReadLog()).toEqual([ATTEMPTED]);
    jest.restoreAllMocks();
    await recordNotification();
    expect(await runAndReadLog()).toEqual([ATTEMPTED, CIRCUIT_OPENED]);
  });

  test('contains only a message about the attempt when the probe of an open circuit fails', async () => {
    receiver.setBehaviours(respondWith(500));
    await insertCircuit(5, later(0));
    await recordNotification();
    expect(await runAndReadLog()).toEqual([ATTEMPTED]);
  });

  test('contains a message about notifications that were exhausted behind an open circuit', async () => {
    receiver.setBehaviours(respondWith(500));
    await insertCircuit(5, later(0));
    const overdue = await recordNotification();
    await query(`UPDATE notifications SET next_attempt_at = $2, created_at = $3 WHERE id = $1`, [
      overdue,
      later(-MIN_OVERDUE_MS),
      later(-MAX_BACKLOG_AGE_MS),
    ]);
    await recordNotification();
    expect(await runAndReadLog()).toEqual([ATTEMPTED, EXHAUSTED_BEHIND_CIRCUIT]);
  });
});

describe('the worker', () => {
  test.each([
    // The Success notification of the same session may have waited for the end of this lease.
    { status: 'Failed', state: 'failed', nudges: 1 },
    { status: 'Success', state: 'success', nudges: 0 },
  ] as const)('is woken $nudges times after an attempt to send a $status notification', async ({ state, nudges }) => {
    receiver.setBehaviours(respondWith(200));
    await recordNotification(state);
    const nudge = jest.spyOn(dispatcher.test.service.app.get(DueSignal), 'nudge');
    expect(await dispatcher.runStep()).toBe(1);
    expect(nudge).toHaveBeenCalledTimes(nudges);
  });
});
