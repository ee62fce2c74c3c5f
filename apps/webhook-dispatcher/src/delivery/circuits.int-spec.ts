import { randomUUID } from 'node:crypto';
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { type RunningService, startService } from '@svc/service';
import { waitUntil } from '@svc/testing';
import { DISPATCHER_ENV, DispatcherUnderTest } from '../../test/dispatcher.js';
import { respondWith, Receiver } from '../../test/receiver.js';
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

const circuits = (): Promise<CircuitRow[]> => dispatcher.test.dataSource.query(`SELECT * FROM circuits`);

async function paid(count: number, url = receiver.url): Promise<HostedPaymentSnapshot[]> {
  const payments = Array.from({ length: count }, () => dispatcher.newPayment(url));
  for (const payment of payments) await dispatcher.deliverPayments(payment);
  return payments;
}

async function replica(env: Record<string, string> = {}, broker = new EmbeddedBroker()): Promise<RunningService> {
  const { url } = dispatcher.test.dataSource.options as { url: string };
  const base = { SVC_ENVIRONMENT: 'development', SVC_LOG_LEVEL: 'silent', SVC_DATABASE_URL: url, ...DISPATCHER_ENV };
  return startService(webhookDispatcherService, { env: { ...base, ...env }, broker, clock: dispatcher.clock });
}

/** Ten failing notifications: the circuit is open for ten seconds, and all ten are due again within a minute. */
async function opened(): Promise<HostedPaymentSnapshot[]> {
  receiver.setBehaviours(respondWith(500));
  const payments = await paid(10);
  expect(await dispatcher.runOnce()).toBe(10);
  expect(await circuits()).toMatchObject([
    { failures: 10, openings: 1, open_until: dispatcher.clock.later(10 * SECOND) },
  ]);
  return payments;
}

describe('an endpoint that fails five times in a row', () => {
  it('receives nothing, then one probe, and all notifications once the probe succeeds', async () => {
    await opened();
    dispatcher.clock.advance(9 * SECOND);
    expect(await dispatcher.runOnce()).toBe(0);
    dispatcher.clock.advance(1 * SECOND);
    expect(await dispatcher.runOnce()).toBe(1);
    expect(await circuits()).toMatchObject([{ openings: 2, open_until: dispatcher.clock.later(20 * SECOND) }]);
    dispatcher.clock.advance(20 * SECOND);
    receiver.setBehaviours(respondWith(200));
    expect(await dispatcher.runOnce()).toBe(1);
    expect(await circuits()).toEqual([]);
    // The eight due ones, and the failed probe, which waited for its next attempt.
    expect(await dispatcher.runOnce()).toBe(9);
    expect(await dispatcher.runOnce()).toBe(0);
  });

  it('receives waiting notifications at once after an outage, but not those that wait for keys or are in flight', async () => {
    const payments = await opened();
    const { superuser } = dispatcher.test;
    const later = dispatcher.clock.later(6 * HOUR);
    const [unsigned, leased, ...waiting] = payments.slice(1);
    await superuser.query(`UPDATE notifications SET next_attempt_at = $1`, [later]);
    const change = async (payment: HostedPaymentSnapshot | undefined, set: string): Promise<void> => {
      await superuser.query(`UPDATE notifications SET ${set} WHERE payment_reference = $1`, [
        payment!.paymentReference,
      ]);
    };
    await change(payments[0], `next_attempt_at = now() - interval '1 year'`);
    await change(unsigned, `unsigned_since = created_at, missing_keys = '{webhook-secret}'`);
    await change(leased, `leased_until = next_attempt_at, lease_id = gen_random_uuid()`);
    dispatcher.clock.advance(10 * SECOND);
    expect(await dispatcher.runOnce()).toBe(1);
    await change(payments[0], `next_attempt_at = now() - interval '1 year'`);
    dispatcher.clock.advance(20 * SECOND);
    receiver.setBehaviours(respondWith(200));
    expect(await dispatcher.runOnce()).toBe(1);
    expect(await dispatcher.runOnce()).toBe(waiting.length);
    expect(await dispatcher.runOnce()).toBe(0);
  });

  it('keeps the schedule of failed notifications while others succeed: that is no outage', async () => {
    const [probe] = await opened();
    const { superuser } = dispatcher.test;
    await superuser.query(`UPDATE notifications SET next_attempt_at = $1 WHERE payment_reference <> $2`, [
      dispatcher.clock.later(6 * HOUR),
      probe!.paymentReference,
    ]);
    dispatcher.clock.advance(10 * SECOND);
    receiver.setBehaviours(respondWith(200));
    expect(await dispatcher.runOnce()).toBe(1);
    expect(await circuits()).toEqual([]);
    expect(await dispatcher.runOnce()).toBe(0);
  });

  it('has one circuit for all replicas, also after a restart and for new notifications', async () => {
    await opened();
    const broker = new EmbeddedBroker();
    const other = await replica({ SVC_DELIVERY: 'on' }, broker);
    const late = dispatcher.newPayment(receiver.url);
    await broker.targets()[0]!.deliver([dispatcher.finalPaymentEvent(late)]);
    expect(await dispatcher.getNotificationRow(late)).toMatchObject({ state: 'pending', tries: 0, lease_id: null });
    expect(receiver.received).toHaveLength(10);
    receiver.setBehaviours(respondWith(200));
    dispatcher.clock.advance(20 * SECOND);
    await waitUntil('everything', 10_000, async () => (await dispatcher.getNotificationRow(late)).state === 'delivered');
    await other.close();
  });

  it('is probed by one replica only', async () => {
    await opened();
    const others = await Promise.all([replica(), replica(), replica()]);
    dispatcher.clock.advance(10 * SECOND);
    let release: () => void = () => undefined;
    receiver.setBehaviours((response) => {
      release = () => response.writeHead(200).end();
    });
    const arrived = receiver.nextRequest();
    const workers = [dispatcher.worker, ...others.map(({ app }) => app.get(DeliveryWorker))];
    const running = workers.map((worker) => worker.runOnce());
    await arrived;
    // A worker that leases after the response to the probe would find a closed circuit.
    let ended = 0;
    for (const run of running) void run.then(() => ended++);
    await waitUntil('the three without a probe', 10_000, () => Promise.resolve(ended === 3));
    // While the probe is in flight, no other notification is sent, until its response or the end of its lease.
    dispatcher.clock.advance(15 * SECOND);
    expect(await Promise.all(others.map(({ app }) => app.get(DeliveryWorker).runOnce()))).toEqual([0, 0, 0]);
    expect(receiver.received).toHaveLength(11);
    release();
    const counts = await Promise.all(running);
    expect(counts.toSorted()).toEqual([0, 0, 0, 1]);
    await Promise.all(others.map((other) => other.close()));
  });

  it('is probed again when the worker of the probe crashed', async () => {
    await opened();
    dispatcher.clock.advance(10 * SECOND);
    await dispatcher.test.dataSource.query(`UPDATE circuits SET open_until = $1, probe_lease_id = $2`, [
      dispatcher.clock.later(30 * SECOND),
      randomUUID(),
    ]);
    dispatcher.clock.advance(29 * SECOND);
    expect(await dispatcher.runOnce()).toBe(0);
    dispatcher.clock.advance(1 * SECOND);
    expect(await dispatcher.runOnce()).toBe(1);
  });

  it('has a separate circuit for each merchant: one merchant cannot block another on a shared host', async () => {
    await opened();
    await dispatcher.deliverDefaultSecrets(8);
    receiver.setBehaviours(respondWith(200));
    const payment = { ...dispatcher.newPayment(receiver.url), merchantId: 8 };
    await dispatcher.deliverPayments(payment);
    expect(await dispatcher.runOnce()).toBe(1);
    expect((await dispatcher.getNotificationRow(payment)).state).toBe('delivered');
  });

  it('that is up has no row: a response, even 404, resets four failures', async () => {
    receiver.setBehaviours(respondWith(500), respondWith(500), respondWith(500), respondWith(500), respondWith(404));
    await paid(4);
    await dispatcher.runOnce();
    expect(await circuits()).toMatchObject([{ failures: 4, openings: 0, open_until: null }]);
    await paid(1);
    await dispatcher.runOnce();
    expect(await circuits()).toEqual([]);
  });

  it('exhausts notifications that are overdue for longer than their schedule if it never recovers', async () => {
    const payments = await opened();
    for (let hours = 0; hours < 160; hours++) {
      dispatcher.clock.advance(HOUR);
      await dispatcher.runOnce();
    }
    const rows = await Promise.all(payments.map((payment) => dispatcher.getNotificationRow(payment)));
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['exhausted']));
    // Each has had its first attempt, and some were probes; none was sent more often than the schedule allows.
    for (const { tries } of rows) expect(tries).toBeLessThanOrEqual(12);
    expect(receiver.received.length).toBeGreaterThan(20);
  });
});
