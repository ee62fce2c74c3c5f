import { randomUUID } from 'node:crypto';
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { type RunningService, startService } from '@svc/service';
import { waitUntil } from '@svc/testing';
import { DISPATCHER_ENV, DispatcherUnderTest } from '../../test/dispatcher.js';
import { Receiver, respondWith } from '../../test/receiver.js';
import { webhookDispatcherService } from '../index.js';
import { DeliveryWorker } from './delivery-worker.js';

const SECOND = 1_000;
const HOUR = 3_600_000;

let dispatcher: DispatcherUnderTest;
let receiver: Receiver;

beforeEach(async () => {
  dispatcher = await DispatcherUnderTest.start();
  await dispatcher.deliverDefaultSecrets();
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.stop();
  await dispatcher.test.stop();
});

interface CircuitRow {
  failures: number;
  openings: number;
  open_until: Date | null;
}

const readCircuits = (): Promise<CircuitRow[]> => dispatcher.test.dataSource.query(`SELECT * FROM circuits`);

async function deliverNewPayments(count: number, url = receiver.url): Promise<HostedPaymentSnapshot[]> {
  const payments = Array.from({ length: count }, () => dispatcher.newPayment(url));
  for (const payment of payments) await dispatcher.deliverPayments(payment);
  return payments;
}

/** Starts another process of the service on the same database, with the same clock. */
async function startReplica(env: Record<string, string> = {}, broker = new EmbeddedBroker()): Promise<RunningService> {
  const { url } = dispatcher.test.dataSource.options as { url: string };
  const base = { SVC_ENVIRONMENT: 'development', SVC_LOG_LEVEL: 'silent', SVC_DATABASE_URL: url, ...DISPATCHER_ENV };
  return startService(webhookDispatcherService, { env: { ...base, ...env }, broker, clock: dispatcher.clock });
}

/**
 * Sends ten notifications that fail. As a result, the circuit is open for ten seconds, and all ten notifications are
 * due again within a minute.
 */
async function openCircuit(): Promise<HostedPaymentSnapshot[]> {
  receiver.setBehaviours(respondWith(500));
  const payments = await deliverNewPayments(10);
  expect(await dispatcher.runStep()).toBe(10);
  expect(await readCircuits()).toMatchObject([
    { failures: 10, openings: 1, open_until: dispatcher.clock.later(10 * SECOND) },
  ]);
  return payments;
}

describe('a failing endpoint', () => {
  it('receives nothing, then one probe, and all notifications once the probe succeeds', async () => {
    await openCircuit();
    dispatcher.clock.advance(9 * SECOND);
    expect(await dispatcher.runStep()).toBe(0);
    dispatcher.clock.advance(1 * SECOND);
    expect(await dispatcher.runStep()).toBe(1);
    expect(await readCircuits()).toMatchObject([{ openings: 2, open_until: dispatcher.clock.later(20 * SECOND) }]);
    dispatcher.clock.advance(20 * SECOND);
    receiver.setBehaviours(respondWith(200));
    expect(await dispatcher.runStep()).toBe(1);
    expect(await readCircuits()).toEqual([]);
    // Eight notifications were due. The ninth is the failed probe, which was waiting for its next attempt.
    expect(await dispatcher.runStep()).toBe(9);
    expect(await dispatcher.runStep()).toBe(0);
  });

  it('receives waiting notifications immediately after an outage, if they are signed and not in flight', async () => {
    const payments = await openCircuit();
    const { superuser } = dispatcher.test;
    const inSixHours = dispatcher.clock.later(6 * HOUR);
    const [unsigned, leased, ...waiting] = payments.slice(1);
    await superuser.query(`UPDATE notifications SET next_attempt_at = $1`, [inSixHours]);
    const updateNotification = async (payment: HostedPaymentSnapshot | undefined, set: string): Promise<void> => {
      await superuser.query(`UPDATE notifications SET ${set} WHERE payment_reference = $1`, [
        payment!.paymentReference,
      ]);
    };
    // The first payment is due for the longest time, so its notification is the probe.
    await updateNotification(payments[0], `next_attempt_at = now() - interval '1 year'`);
    await updateNotification(unsigned, `unsigned_since = created_at, missing_keys = '{webhook-secret}'`);
    await updateNotification(leased, `leased_until = next_attempt_at, lease_id = gen_random_uuid()`);
    dispatcher.clock.advance(10 * SECOND);
    expect(await dispatcher.runStep()).toBe(1);
    await updateNotification(payments[0], `next_attempt_at = now() - interval '1 year'`);
    dispatcher.clock.advance(20 * SECOND);
    receiver.setBehaviours(respondWith(200));
    expect(await dispatcher.runStep()).toBe(1);
    expect(await dispatcher.runStep()).toBe(waiting.length);
    expect(await dispatcher.runStep()).toBe(0);
  });

  it('receives the other notifications by their schedule, not immediately, when the first probe succeeds', async () => {
    const [probe] = await openCircuit();
    const { superuser } = dispatcher.test;
    await superuser.query(`UPDATE notifications SET next_attempt_at = $1 WHERE payment_reference <> $2`, [
      dispatcher.clock.later(6 * HOUR),
      probe!.paymentReference,
    ]);
    dispatcher.clock.advance(10 * SECOND);
    receiver.setBehaviours(respondWith(200));
    expect(await dispatcher.runStep()).toBe(1);
    expect(await readCircuits()).toEqual([]);
    expect(await dispatcher.runStep()).toBe(0);
  });

  it('has one circuit for all replicas, and the circuit also blocks new notifications and a new replica', async () => {
    await openCircuit();
    const broker = new EmbeddedBroker();
    const replica = await startReplica({ SVC_DELIVERY: 'on' }, broker);
    const newPayment = dispatcher.newPayment(receiver.url);
    await broker.targets()[0]!.deliver([dispatcher.finalPaymentEvent(newPayment)]);
    expect(await dispatcher.getNotificationRow(newPayment)).toMatchObject({
      state: 'pending',
      attempt_count: 0,
      lease_id: null,
    });
    expect(receiver.received).toHaveLength(10);
    receiver.setBehaviours(respondWith(200));
    dispatcher.clock.advance(20 * SECOND);
    await waitUntil(
      'the delivery',
      10_000,
      async () => (await dispatcher.getNotificationRow(newPayment)).state === 'delivered',
    );
    await replica.close();
  });

  it('is probed by only one replica', async () => {
    await openCircuit();
    const replicas = await Promise.all([startReplica(), startReplica(), startReplica()]);
    dispatcher.clock.advance(10 * SECOND);
    let release: () => void = () => undefined;
    receiver.setBehaviours((response) => {
      release = () => response.writeHead(200).end();
    });
    const arrived = receiver.nextRequest();
    const workers = [dispatcher.worker, ...replicas.map(({ app }) => app.get(DeliveryWorker))];
    const running = workers.map((worker) => worker.runStep());
    await arrived;
    // All workers must have requested leases before the response to the probe closes the circuit.
    let ended = 0;
    for (const run of running) void run.then(() => ended++);
    await waitUntil('the three workers that may not send the probe', 10_000, () => Promise.resolve(ended === 3));
    // No other notification is sent until the endpoint responds to the probe or the lease of the probe ends.
    dispatcher.clock.advance(15 * SECOND);
    expect(await Promise.all(replicas.map(({ app }) => app.get(DeliveryWorker).runStep()))).toEqual([0, 0, 0]);
    expect(receiver.received).toHaveLength(11);
    release();
    const counts = await Promise.all(running);
    expect(counts.toSorted()).toEqual([0, 0, 0, 1]);
    await Promise.all(replicas.map((replica) => replica.close()));
  });

  it('is probed again after the worker that sent the probe has crashed', async () => {
    await openCircuit();
    dispatcher.clock.advance(10 * SECOND);
    await dispatcher.test.dataSource.query(`UPDATE circuits SET open_until = $1, probe_lease_id = $2`, [
      dispatcher.clock.later(30 * SECOND),
      randomUUID(),
    ]);
    dispatcher.clock.advance(29 * SECOND);
    expect(await dispatcher.runStep()).toBe(0);
    dispatcher.clock.advance(1 * SECOND);
    expect(await dispatcher.runStep()).toBe(1);
  });

  it('has a separate circuit for each merchant, so that one merchant cannot block another on a shared host', async () => {
    await openCircuit();
    await dispatcher.deliverDefaultSecrets(8);
    receiver.setBehaviours(respondWith(200));
    const payment = { ...dispatcher.newPayment(receiver.url), merchantId: 8 };
    await dispatcher.deliverPayments(payment);
    expect(await dispatcher.runStep()).toBe(1);
    expect((await dispatcher.getNotificationRow(payment)).state).toBe('delivered');
  });

  it('has no circuit any more when it responds after four failures, even with a 404', async () => {
    receiver.setBehaviours(respondWith(500), respondWith(500), respondWith(500), respondWith(500), respondWith(404));
    await deliverNewPayments(4);
    await dispatcher.runStep();
    expect(await readCircuits()).toMatchObject([{ failures: 4, openings: 0, open_until: null }]);
    await deliverNewPayments(1);
    await dispatcher.runStep();
    expect(await readCircuits()).toEqual([]);
  });

  it('receives each notification at most twelve times if it never recovers', async () => {
    const payments = await openCircuit();
    // 160 hours are about twice as long as the retry schedule.
    for (let hours = 0; hours < 160; hours++) {
      dispatcher.clock.advance(HOUR);
      await dispatcher.runStep();
    }
    const rows = await Promise.all(payments.map((payment) => dispatcher.getNotificationRow(payment)));
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['exhausted']));
    // No notification was sent more often than its schedule allows, although some of them were probes as well.
    for (const { attempt_count } of rows) expect(attempt_count).toBeLessThanOrEqual(12);
    expect(receiver.received.length).toBeGreaterThan(20);
  });
});
