/**
 * A Success is the notification of a successful payment, a Failed is the notification of a failed payment. These tests
 * check that a merchant never receives a Failed after the Success of the same session.
 */
import { randomUUID } from 'node:crypto';
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { openTransaction, waitForBlockedBackends } from '@svc/testing';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import { Receiver, respondWith } from '../../test/receiver.js';
import { DeliveryAttemptRepository } from '../delivery/delivery-attempt.repository.js';
import { DeliveryAttemptRecorder } from '../delivery/delivery-attempt-recorder.js';
import { DeliveryLeaseRepository, type LeasedNotification } from '../delivery/delivery-lease.repository.js';
import { DueSignal } from '../delivery/due-signal.js';
import { NotificationRepository } from './notification.repository.js';
import { RecordNotifications } from './record-notifications.js';

const SECOND = 1_000;

let dispatcher: DispatcherUnderTest;
let receiver: Receiver;
let failed: HostedPaymentSnapshot;
let succeeded: HostedPaymentSnapshot;

beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start({ SVC_DELIVERY_TIMEOUT_MS: '5000' });
  await dispatcher.deliverDefaultSecrets();
});
afterAll(() => dispatcher.test.stop());
beforeEach(async () => {
  receiver = await Receiver.start();
  const sessionId = randomUUID();
  failed = dispatcher.newPayment(receiver.url, { sessionId, state: 'failed' });
  succeeded = dispatcher.newPayment(receiver.url, { sessionId });
});
afterEach(async () => {
  await receiver.stop();
  // Otherwise the notifications and circuits of a failed test would change the results of later tests.
  await dispatcher.test.superuser.query(`TRUNCATE notifications, delivery_attempts, circuits`);
});

const readState = async (payment: HostedPaymentSnapshot): Promise<string> =>
  (await dispatcher.getNotificationRow(payment)).state;

/** Leases all due notifications, so that the test can perform the steps of an attempt itself. */
function leaseAll(): Promise<LeasedNotification[]> {
  const { clock } = dispatcher;
  return new DeliveryLeaseRepository(dispatcher.test.dataSource).leaseDue({
    now: clock.now(),
    leaseId: randomUUID(),
    leasedUntil: clock.later(30 * SECOND),
    max: 50,
    maxPerMerchant: 10,
    maxPerEndpoint: 10,
    usage: [],
  });
}

async function recordResult(notification: LeasedNotification, statusCode: number): Promise<boolean> {
  const now = dispatcher.clock.now();
  const result =
    statusCode === 200
      ? ({ outcome: 'acknowledged', state: 'delivered', nextAttemptAt: undefined } as const)
      : ({ outcome: 'refused', state: 'pending', nextAttemptAt: dispatcher.clock.later(5 * SECOND) } as const);
  const response = { statusCode, durationMs: 1 };
  return new DeliveryAttemptRecorder(
    new DeliveryAttemptRepository(dispatcher.test.dataSource),
    new DueSignal(dispatcher.test.dataSource),
  ).record({
    notification,
    response,
    result,
    startedAt: now,
    endedAt: now,
  });
}

describe('after a session was paid', () => {
  it('a Failed that was not acknowledged is no longer sent', async () => {
    await dispatcher.deliverPayments(failed);
    await dispatcher.deliverPayments(succeeded);
    await dispatcher.runStep();
    dispatcher.clock.advance(100 * SECOND);
    await dispatcher.runStep();
    expect(receiver.paymentStatuses).toEqual(['Success']);
    expect([await readState(failed), await readState(succeeded)]).toEqual(['superseded', 'delivered']);
  });

  it('a Failed that waits for its next attempt is not retried', async () => {
    receiver.setBehaviours(respondWith(500), respondWith(200));
    await dispatcher.deliverPayments(failed);
    await dispatcher.runStep();
    await dispatcher.deliverPayments(succeeded);
    dispatcher.clock.advance(100 * SECOND);
    await dispatcher.runStep();
    expect(receiver.paymentStatuses).toEqual(['Failed', 'Success']);
    expect([await readState(failed), await readState(succeeded)]).toEqual(['superseded', 'delivered']);
  });

  it('a Failed that arrives after the Success is recorded as superseded, even if the Success is not yet delivered', async () => {
    await dispatcher.deliverPayments(succeeded);
    await dispatcher.deliverPayments(failed);
    await dispatcher.runStep();
    const laterFailed = dispatcher.newPayment(receiver.url, { sessionId: failed.source.sessionId, state: 'failed' });
    await dispatcher.deliverPayments(laterFailed);
    expect(await dispatcher.runStep()).toBe(0);
    expect(receiver.paymentStatuses).toEqual(['Success']);
    expect([await readState(failed), await readState(laterFailed)]).toEqual(['superseded', 'superseded']);
  });

  it('a Failed that has been acknowledged stays delivered, and notifications of other sessions do not change', async () => {
    const failedOfOtherSession = dispatcher.newPayment(receiver.url, { state: 'failed' });
    await dispatcher.deliverPayments(failed);
    await dispatcher.runStep();
    receiver.setBehaviours(respondWith(500), respondWith(200));
    await dispatcher.deliverPayments(failedOfOtherSession);
    await dispatcher.runStep();
    await dispatcher.deliverPayments(succeeded);
    expect([await readState(failed), await readState(failedOfOtherSession)]).toEqual(['delivered', 'pending']);
    dispatcher.clock.advance(6 * SECOND);
    await dispatcher.runStep();
    expect(receiver.paymentStatuses.sort()).toEqual(['Failed', 'Failed', 'Failed', 'Success']);
  });

  it('an exhausted Failed is superseded', async () => {
    await dispatcher.deliverPayments(failed);
    await dispatcher.test.dataSource.query(
      `UPDATE notifications SET state = 'exhausted', next_attempt_at = NULL WHERE payment_reference = $1`,
      [failed.paymentReference],
    );
    await dispatcher.deliverPayments(succeeded);
    expect(await readState(failed)).toBe('superseded');
    await dispatcher.runStep();
    expect(receiver.paymentStatuses).toEqual(['Success']);
  });
});

describe('while a Failed is in flight', () => {
  it.each([
    [200, 'delivered'],
    [500, 'superseded'],
  ])('the Success waits for the end of the attempt, and after a %i the Failed is %s', async (statusCode, state) => {
    await dispatcher.deliverPayments(failed);
    const [inFlight] = await leaseAll();
    await dispatcher.deliverPayments(succeeded);
    expect(await readState(failed)).toBe('superseded');
    expect(await dispatcher.runStep()).toBe(0);

    expect(await recordResult(inFlight!, statusCode)).toBe(true);
    expect(await dispatcher.getNotificationRow(failed)).toMatchObject({ state, attempt_count: 1, lease_id: null });
    expect(await dispatcher.runStep()).toBe(1);
    dispatcher.clock.advance(100 * SECOND);
    expect(await dispatcher.runStep()).toBe(0);
    expect(receiver.paymentStatuses).toEqual(['Success']);
  });

  it('the Success of its session waits only for the end of the lease if the worker crashes', async () => {
    await dispatcher.deliverPayments(failed);
    const [inFlight] = await leaseAll();
    await dispatcher.deliverPayments(succeeded);
    dispatcher.clock.advance(29 * SECOND);
    expect(await dispatcher.runStep()).toBe(0);
    dispatcher.clock.advance(1 * SECOND);
    expect(await dispatcher.runStep()).toBe(1);
    expect(receiver.paymentStatuses).toEqual(['Success']);
    await recordResult(inFlight!, 500);
    expect(await readState(failed)).toBe('superseded');
  });

  it('the merchant does not receive the Success before the merchant has responded to the Failed', async () => {
    const statuses: string[] = [];
    let release: () => void = () => undefined;
    receiver.setBehaviours((response, { body }) => {
      statuses.push((JSON.parse(body) as { paymentStatus: string }).paymentStatus);
      release = () => response.writeHead(500).end();
    }, respondWith(200));
    await dispatcher.deliverPayments(failed);
    const arrived = receiver.nextRequest();
    const sending = dispatcher.runStep();
    await arrived;
    await dispatcher.deliverPayments(succeeded);
    expect(await dispatcher.runStep()).toBe(0);
    release();
    await sending;
    await dispatcher.runStep();
    expect(statuses).toEqual(['Failed']);
    expect(receiver.paymentStatuses).toEqual(['Failed', 'Success']);
  });
});

describe('when concurrent transactions record a Failed and a Success of one session', () => {
  it.each([
    ['Failed', 'Success'],
    ['Success', 'Failed'],
  ])('the second transaction waits for the first, and only the Success is sent (first: %s)', async (firstStatus) => {
    const [first, second] = firstStatus === 'Failed' ? [failed, succeeded] : [succeeded, failed];
    const { dataSource } = dispatcher.test;
    await using firstTransaction = await openTransaction(dataSource);
    await new RecordNotifications(new NotificationRepository(), dispatcher.worker, dispatcher.clock).execute(
      firstTransaction.manager,
      [{ payload: first }],
    );

    let secondDone = false;
    const secondRecording = dataSource
      .transaction((tx) =>
        new RecordNotifications(new NotificationRepository(), dispatcher.worker, dispatcher.clock).execute(tx, [
          { payload: second },
        ]),
      )
      .then(() => {
        secondDone = true;
      });
    await waitForBlockedBackends(dataSource, 1);
    expect(secondDone).toBe(false);
    await firstTransaction.commit();
    await secondRecording;

    expect([await readState(failed), await readState(succeeded)]).toEqual(['superseded', 'pending']);
    await dispatcher.runStep();
    expect(receiver.paymentStatuses).toEqual(['Success']);
  });

  it('the recording of the Success waits for an uncommitted lease of the Failed', async () => {
    await dispatcher.deliverPayments(failed);
    await using leasing = await openTransaction(dispatcher.test.dataSource);
    await leasing.query(`UPDATE notifications SET lease_id = $2, leased_until = $3 WHERE payment_reference = $1`, [
      failed.paymentReference,
      randomUUID(),
      dispatcher.clock.later(30 * SECOND),
    ]);
    const recording = dispatcher.deliverPayments(succeeded);
    await waitForBlockedBackends(dispatcher.test.dataSource, 1);
    await leasing.commit();
    await recording;

    expect(await dispatcher.getNotificationRow(failed)).toMatchObject({
      state: 'superseded',
      lease_id: expect.any(String) as string,
    });
    expect(await dispatcher.runStep()).toBe(0);
    dispatcher.clock.advance(30 * SECOND);
    expect(await dispatcher.runStep()).toBe(1);
  });

  it('a lease request skips a Failed that is being superseded', async () => {
    await dispatcher.deliverPayments(failed);
    await using recording = await openTransaction(dispatcher.test.dataSource);
    await new RecordNotifications(new NotificationRepository(), dispatcher.worker, dispatcher.clock).execute(
      recording.manager,
      [{ payload: succeeded }],
    );
    expect(await leaseAll()).toEqual([]);
    await recording.commit();
    expect(await leaseAll()).toMatchObject([{ paymentStatus: 'Success' }]);
    dispatcher.clock.advance(100 * SECOND);
    await dispatcher.runStep();
  });

  it('no Failed is sent after the Success of its session, in any order of concurrent events', async () => {
    const sessions = Array.from({ length: 20 }, () => randomUUID());
    const payments = sessions.flatMap((sessionId) => [
      dispatcher.newPayment(receiver.url, { sessionId, state: 'failed' }),
      dispatcher.newPayment(receiver.url, { sessionId, state: 'failed' }),
      dispatcher.newPayment(receiver.url, { sessionId }),
    ]);
    // References are random UUIDs, so sorting by them shuffles the payments.
    const shuffled = payments.toSorted((a, b) => a.reference.localeCompare(b.reference));
    const sending = (async () => {
      for (let i = 0; i < 20; i++) await dispatcher.runStep();
    })();
    await Promise.all(shuffled.map((payment) => dispatcher.deliverPayments(payment)));
    await sending;
    while ((await dispatcher.runStep()) > 0);

    const sentNotifications = receiver.received.map(
      ({ body }) => JSON.parse(body) as { sessionId: string; paymentStatus: string },
    );
    for (const sessionId of sessions) {
      const statuses = sentNotifications
        .filter((notification) => notification.sessionId === sessionId)
        .map(({ paymentStatus }) => paymentStatus);
      expect(statuses.filter((status) => status === 'Success')).toHaveLength(1);
      expect(statuses.at(-1)).toBe('Success');
    }
    // Each of the 40 Failed was delivered before the Success of its session, or is superseded.
    const states = await Promise.all(
      payments.map(async (payment) => [payment.state, await readState(payment)].join(': ')),
    );
    const countOf = (state: string): number => states.filter((stateOfPayment) => stateOfPayment === state).length;
    expect(countOf('success: delivered')).toBe(20);
    expect(countOf('failed: delivered')).toBe(sentNotifications.length - 20);
    expect(countOf('failed: superseded')).toBe(40 - (sentNotifications.length - 20));
  });
});
