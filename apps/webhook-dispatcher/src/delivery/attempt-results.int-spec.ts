/** The effects of the result of an attempt: the statements, the log, and the next lease request. */
import { randomUUID } from 'node:crypto';
import { waitUntil } from '@svc/testing';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import { respondWith, Receiver } from '../../test/receiver.js';
import { MAX_BACKLOG_AGE_MS, MIN_OVERDUE_MS } from '../retries/circuit.js';
import { AttemptRecorder } from './attempt-recorder.js';
import { DeliveryAttemptRepository } from './delivery-attempt.repository.js';
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
const endpoint = (): string => `127.0.0.1:${receiver.port}`;
const later = (ms: number): Date => dispatcher.clock.later(ms);

async function recorded(state: 'success' | 'failed' = 'success'): Promise<string> {
  const payment = dispatcher.newPayment(receiver.url, { state });
  await dispatcher.deliverPayments(payment);
  return (await dispatcher.getNotificationRow(payment)).id;
}
const lease = (): Promise<LeasedNotification[]> =>
  new DeliveryLeaseRepository(dispatcher.test.dataSource).leaseDue({
    now: dispatcher.clock.now(),
    leaseId: randomUUID(),
    leasedUntil: later(30_000),
    ...{ max: 50, maxPerMerchant: 50, maxPerEndpoint: 50, usage: [] },
  });
const write = (recorder: AttemptRecorder, notification: LeasedNotification): Promise<boolean> =>
  recorder.record({
    notification,
    response: { statusCode: 200, durationMs: 1 },
    result: { outcome: 'acknowledged', state: 'delivered', nextAttemptAt: undefined },
    ...{ startedAt: dispatcher.clock.now(), endedAt: dispatcher.clock.now() },
  });
const circuit = (failures: number, openUntil: Date | null): Promise<unknown> =>
  query(
    `INSERT INTO circuits (merchant_id, endpoint, failures, openings, open_until) VALUES (7, $1, $2, CASE WHEN $3::timestamptz IS NULL THEN 0 ELSE 1 END, $3)`,
    [endpoint(), failures, openUntil],
  );

describe('results that arrive together are recorded', () => {
  test.each([
    ['success', 2, 'one alone, then the rest at once'],
    ['failed', 4, 'each alone'],
  ] as const)('for a %s in %d statements: %s', async (state, statements, _) => {
    for (let count = 0; count < 4; count++) await recorded(state);
    const leased = await lease();
    const sent = jest.spyOn(dispatcher.test.dataSource, 'query');
    const recorder = new AttemptRecorder(
      new DeliveryAttemptRepository(dispatcher.test.dataSource),
      new DueSignal(dispatcher.test.dataSource),
    );
    expect(await Promise.all(leased.map((one) => write(recorder, one)))).toEqual([true, true, true, true]);
    expect(sent).toHaveBeenCalledTimes(statements);
  });

  test('locking the circuits of their endpoints in one order, so that two statements cannot wait for each other', async () => {
    const endpoints = ['c.example:443', 'a.example:443', 'b.example:443'];
    for (const one of endpoints)
      await query(`INSERT INTO circuits (merchant_id, endpoint, failures, openings) VALUES (7, $1, 1, 0)`, [one]);
    for (let count = 0; count < 4; count++) await recorded();
    const [first, ...leased] = await lease();
    const holder = dispatcher.test.dataSource.createQueryRunner();
    await holder.startTransaction();
    await holder.query(`SELECT FROM circuits WHERE endpoint = 'a.example:443' FOR UPDATE`);
    const recorder = new AttemptRecorder(
      new DeliveryAttemptRepository(dispatcher.test.dataSource),
      new DueSignal(dispatcher.test.dataSource),
    );
    const writing = [
      write(recorder, first!),
      ...leased.map((one, nth) => write(recorder, { ...one, endpoint: endpoints[nth]! })),
    ];
    await waitUntil('the statement to wait', 5_000, async () => {
      const [row] = await query<[{ count: number }]>(
        `SELECT count(*) AS count FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()
            AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`,
      );
      return row.count > 0;
    });
    const free = await query(`SELECT endpoint FROM circuits ORDER BY endpoint FOR UPDATE SKIP LOCKED`);
    await holder.commitTransaction();
    await holder.release();
    expect(await Promise.all(writing)).toEqual([true, true, true, true]);
    expect(free).toEqual([{ endpoint: 'b.example:443' }, { endpoint: 'c.example:443' }]);
  });
});

describe('the log contains', () => {
  const TRIED = 'notification attempted';
  const GIVEN_UP = 'notification given up';
  const OPEN = 'endpoint is failing: circuit breaker opened';
  const BEHIND = 'notifications given up behind an open circuit';
  async function logged(): Promise<unknown[]> {
    const { log } = dispatcher.test.service;
    const [info, warn] = [jest.spyOn(log, 'info'), jest.spyOn(log, 'warn')];
    await dispatcher.runOnce();
    return [...info.mock.calls, ...warn.mock.calls].map((call) => (call as unknown[])[1]);
  }

  test.each([
    ['acknowledged', 200, 0, [TRIED]],
    ['refused for now', 500, 0, [TRIED]],
    ['refused the twelfth time', 500, 11, [GIVEN_UP]],
    ['refused for ever', 410, 0, [GIVEN_UP]],
  ])('the result %s', async (_, status, position, messages) => {
    receiver.setBehaviours(respondWith(status));
    const id = await recorded();
    await query(`UPDATE notifications SET schedule_position = $2 WHERE id = $1`, [id, position]);
    expect(await logged()).toEqual(messages);
  });

  test('the opening of a circuit', async () => {
    receiver.setBehaviours(respondWith(500));
    await circuit(3, null);
    await recorded();
    expect(await logged()).toEqual([TRIED]);
    jest.restoreAllMocks();
    await recorded();
    expect(await logged()).toEqual([TRIED, OPEN]);
  });

  test('only the result if the probe of an open circuit fails', async () => {
    receiver.setBehaviours(respondWith(500));
    await circuit(5, later(0));
    await recorded();
    expect(await logged()).toEqual([TRIED]);
  });

  test('the number of exhausted notifications behind an open circuit', async () => {
    receiver.setBehaviours(respondWith(500));
    await circuit(5, later(0));
    const overdue = await recorded();
    await query(`UPDATE notifications SET next_attempt_at = $2, created_at = $3 WHERE id = $1`, [
      overdue,
      later(-MIN_OVERDUE_MS),
      later(-MAX_BACKLOG_AGE_MS),
    ]);
    await recorded();
    expect(await logged()).toEqual([TRIED, BEHIND]);
  });
});

describe('the worker leases again', () => {
  test.each([
    ['failed', 'after a Failed, for which a Success may have waited', 1],
    ['success', 'not after a Success, where nothing waits for a place', 0],
  ] as const)('%s: %s', async (state, _, nudges) => {
    receiver.setBehaviours(respondWith(200));
    await recorded(state);
    const nudge = jest.spyOn(dispatcher.test.service.app.get(DueSignal), 'nudge');
    expect(await dispatcher.runOnce()).toBe(1);
    expect(nudge).toHaveBeenCalledTimes(nudges);
  });
});
