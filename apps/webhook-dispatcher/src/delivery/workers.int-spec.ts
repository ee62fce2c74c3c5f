import { randomBytes, randomUUID } from 'node:crypto';
import { type HostedPaymentSnapshot, PaymentFailedV1, PaymentSucceededV1, SealingKeyPublishedV1 } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { type RunningService, startService } from '@svc/service';
import { anEvent, waitUntil } from '@svc/testing';
import { DISPATCHER_ENV, DispatcherUnderTest } from '../../test/dispatcher.js';
import { respondWith, Receiver } from '../../test/receiver.js';
import { webhookDispatcherService } from '../index.js';
import { AttemptRecorder } from './attempt-recorder.js';
import { DeliveryAttemptRepository } from './delivery-attempt.repository.js';
import { DeliveryLeaseRepository } from './delivery-lease.repository.js';
import { DeliveryWorker } from './delivery-worker.js';
import { DueSignal } from './due-signal.js';

const SECOND = 1_000;

let dispatcher: DispatcherUnderTest;
let receiver: Receiver;

/** Concurrent requests to one endpoint. */
const SLOTS = 4;

beforeEach(async () => {
  dispatcher = await DispatcherUnderTest.start({
    SVC_DELIVERY_CONCURRENCY: '20',
    SVC_DELIVERY_CONCURRENCY_PER_ENDPOINT: String(SLOTS),
  });
  await dispatcher.deliverDefaultSecrets();
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.stop();
  await dispatcher.test.stop();
});

/** Another process of the same service: same database, same time. */
function replica(env: Record<string, string> = {}, broker = new EmbeddedBroker()): Promise<RunningService> {
  const { url } = dispatcher.test.dataSource.options as { url: string };
  const base = { SVC_ENVIRONMENT: 'development', SVC_LOG_LEVEL: 'silent', SVC_DATABASE_URL: url, ...DISPATCHER_ENV };
  return startService(webhookDispatcherService, { env: { ...base, ...env }, broker, clock: dispatcher.clock });
}

async function paid(count: number, url = receiver.url): Promise<HostedPaymentSnapshot[]> {
  const payments = Array.from({ length: count }, () => dispatcher.newPayment(url));
  for (const payment of payments) await dispatcher.deliverPayments(payment);
  return payments;
}

const idsReceived = (): string[] => receiver.received.map(({ headers }) => String(headers['webhook-id']));

describe('workers', () => {
  it('two at once send each notification once', async () => {
    await paid(60);
    const other = await replica();
    const workers = [dispatcher.worker, other.app.get(DeliveryWorker)];
    const counts = await Promise.all(
      workers.map(async (worker) => {
        let sent = 0;
        for (let count = 1; count > 0; sent += count) count = await worker.runOnce();
        return sent;
      }),
    );
    expect(counts[0]! + counts[1]!).toBe(60);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(idsReceived()).toHaveLength(60);
    expect(new Set(idsReceived()).size).toBe(60);
    await other.close();
  });

  it('that crash between request and record: another sends the same webhook-id, and the late result is ignored', async () => {
    const [payment] = await paid(1);
    const { dataSource } = dispatcher.test;
    const [leased] = await new DeliveryLeaseRepository(dataSource).leaseDue({
      now: dispatcher.clock.now(),
      leaseId: randomUUID(),
      leasedUntil: dispatcher.clock.later(30 * SECOND),
      max: 1,
      maxPerMerchant: 1,
      maxPerEndpoint: 1,
      usage: [],
    });
    await fetch(receiver.url, { method: 'POST', headers: { 'webhook-id': leased!.id }, body: '{}' });

    dispatcher.clock.advance(29 * SECOND);
    expect(await dispatcher.runOnce()).toBe(0);
    dispatcher.clock.advance(1 * SECOND);
    expect(await dispatcher.runOnce()).toBe(1);
    const { id } = await dispatcher.getNotificationRow(payment!);
    expect(idsReceived()).toEqual([id, id]);

    const now = dispatcher.clock.now();
    const late = { outcome: 'refused', state: 'gone', nextAttemptAt: undefined } as const;
    const response = { statusCode: 410, durationMs: 1 };
    const attempt = { notification: leased!, response, result: late, startedAt: now, endedAt: now };
    expect(
      await new AttemptRecorder(new DeliveryAttemptRepository(dataSource), new DueSignal(dataSource)).record(attempt),
    ).toBe(false);
    expect(await dispatcher.getNotificationRow(payment!)).toMatchObject({ state: 'delivered', tries: 1 });
    expect(await dispatcher.getAttemptRows(payment!)).toMatchObject([{ try: 1, outcome: 'acknowledged' }]);
  });

  it('that were suspended after the lease do not send', async () => {
    const [payment] = await paid(1);
    // The clock jumps between lease and request.
    const leasing = jest.spyOn(dispatcher.clock, 'later').mockImplementationOnce((ms) => {
      const until = new Date(dispatcher.clock.now().getTime() + ms);
      dispatcher.clock.advance(25 * SECOND);
      return until;
    });
    await dispatcher.runOnce();
    leasing.mockRestore();
    expect(receiver.received).toHaveLength(0);
    expect(await dispatcher.getNotificationRow(payment!)).toMatchObject({ state: 'pending', tries: 0, lease_id: null });
    await dispatcher.runOnce();
    expect(receiver.received).toHaveLength(1);
  });

  it('leave slots for other endpoints when one hangs with many due notifications', async () => {
    const slow = await Receiver.start();
    const releases: (() => void)[] = [];
    slow.setBehaviours((response) => releases.push(() => response.writeHead(200).end()));
    await paid(30, slow.url);
    const allFour = (async () => {
      while (slow.received.length < 4) await slow.nextRequest();
    })();
    const hanging = dispatcher.runOnce();
    await allFour;

    dispatcher.clock.advance(1);
    await paid(5);
    expect(await dispatcher.runOnce()).toBe(4);
    expect(await dispatcher.runOnce()).toBe(1);
    expect(receiver.received).toHaveLength(5);
    expect(slow.received).toHaveLength(4);

    for (const release of releases) release();
    expect(await hanging).toBe(4);
    await slow.stop();
  });

  it('never have more requests in flight than the limit', async () => {
    let open = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    receiver.setBehaviours((response) => {
      most = Math.max(most, ++open);
      waiting.push(() => {
        open--;
        response.writeHead(200).end();
      });
      // Four at once, or the last one.
      if (waiting.length === 4 || receiver.received.length === 10) for (const answer of waiting.splice(0)) answer();
    });
    await paid(10);
    while ((await dispatcher.runOnce()) > 0);
    expect(receiver.received).toHaveLength(10);
    expect(most).toBe(4);
  });
});

describe('the loop', () => {
  async function running(
    pollMs: string,
  ): Promise<{ service: RunningService; deliver: (...payments: HostedPaymentSnapshot[]) => Promise<void> }> {
    const broker = new EmbeddedBroker();
    const env = {
      SVC_DELIVERY: 'on',
      SVC_DELIVERY_POLL_MS: pollMs,
      SVC_DELIVERY_CONCURRENCY_PER_ENDPOINT: String(SLOTS),
    };
    const service = await replica(env, broker);
    const deliver = (...payments: HostedPaymentSnapshot[]): Promise<void> =>
      broker.targets()[0]!.deliver(
        payments.map((payment) => {
          const type = payment.state === 'success' ? PaymentSucceededV1 : PaymentFailedV1;
          return anEvent(type, payment.paymentReference, 2, payment);
        }),
      );
    return { service, deliver };
  }

  it('is woken by a recorded notification', async () => {
    const { service, deliver } = await running('60000');
    for (let i = 1; i <= 2; i++) {
      await deliver(dispatcher.newPayment(receiver.url));
      await waitUntil('the notification', 5_000, async () => receiver.received.length === i);
    }
    await service.close();
    expect(receiver.paymentStatuses).toEqual(['Success', 'Success']);
  });

  it('sends recorded notifications without a lease request while slots are free, and the others as slots become free', async () => {
    const { service, deliver } = await running('60000');
    let open = 0;
    let most = 0;
    receiver.setBehaviours((response) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        open--;
        response.writeHead(200).end();
      });
    });
    const payments = Array.from({ length: 11 }, () => dispatcher.newPayment(receiver.url));
    await deliver(...payments);
    await waitUntil('all of them', 5_000, async () => receiver.received.length === payments.length);
    expect(most).toBeLessThanOrEqual(SLOTS);
    expect(new Set(idsReceived()).size).toBe(payments.length);
    await waitUntil('the results', 5_000, async () => {
      const rows = await Promise.all(payments.map((payment) => dispatcher.getNotificationRow(payment)));
      return rows.every(({ state, tries, lease_id }) => state === 'delivered' && tries === 1 && lease_id === null);
    });
    await service.close();
  });

  it('does not let new notifications overtake those that wait for a slot', async () => {
    const { service, deliver } = await running('60000');
    const releases: (() => void)[] = [];
    receiver.setBehaviours((response) => releases.push(() => response.writeHead(200).end()));
    const payments = Array.from({ length: 10 }, () => dispatcher.newPayment(receiver.url));
    for (const payment of payments) {
      await deliver(payment);
      dispatcher.clock.advance(1);
    }
    for (let answered = 0; answered < payments.length; answered++) {
      // One slot at a time becomes free: two concurrent requests may arrive in any order.
      const inFlight = Math.min(answered + SLOTS, payments.length);
      await waitUntil('every slot to be used', 5_000, async () => releases.length === inFlight);
      releases[answered]!();
    }
    const order = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { paymentReference: string }).paymentReference,
    );
    expect(order.slice(SLOTS)).toEqual(payments.slice(SLOTS).map(({ paymentReference }) => paymentReference));
    await service.close();
  });

  it('sends a Success that was recorded while its Failed is in flight right after the Failed', async () => {
    const { service, deliver } = await running('60000');
    const sessionId = randomUUID();
    let release: () => void = () => undefined;
    receiver.setBehaviours((response) => (release = () => response.writeHead(500).end()), respondWith(200));
    const arrived = receiver.nextRequest();
    await deliver(dispatcher.newPayment(receiver.url, { sessionId, state: 'failed' }));
    await arrived;
    const succeeded = dispatcher.newPayment(receiver.url, { sessionId });
    await deliver(succeeded);
    expect(await dispatcher.getNotificationRow(succeeded)).toMatchObject({ state: 'pending', lease_id: null });
    release();
    await waitUntil('the Success', 5_000, async () => receiver.received.length === 2);
    expect(receiver.paymentStatuses).toEqual(['Failed', 'Success']);
    await service.close();
  });

  it('leaves notifications that are recorded during its shutdown to other workers', async () => {
    const { service, deliver } = await running('60000');
    await service.app.get(DeliveryWorker).onModuleDestroy();
    const payment = dispatcher.newPayment(receiver.url);
    await deliver(payment);
    expect(await dispatcher.getNotificationRow(payment)).toMatchObject({ state: 'pending', lease_id: null });
    expect(await dispatcher.runOnce()).toBe(1);
    await service.close();
  });

  it('finds notifications that became due', async () => {
    const { service, deliver } = await running('20');
    receiver.setBehaviours(respondWith(500), respondWith(200));
    const payment = dispatcher.newPayment(receiver.url);
    await deliver(payment);
    await waitUntil('the first attempt', 5_000, async () => (await dispatcher.getNotificationRow(payment)).tries === 1);
    dispatcher.clock.advance(6 * SECOND);
    await waitUntil('the second attempt', 5_000, async () => (await dispatcher.getNotificationRow(payment)).state === 'delivered');
    await service.close();
    expect(await dispatcher.getNotificationRow(payment)).toMatchObject({ tries: 2 });
    expect(receiver.received).toHaveLength(2);
  });

  it('on shutdown lets requests in flight finish, and leases no more', async () => {
    const other = await replica();
    let release: () => void = () => undefined;
    receiver.setBehaviours((response) => {
      release = () => response.writeHead(200).end();
    }, respondWith(200));
    const [payment] = await paid(1);
    const arrived = receiver.nextRequest();
    const sending = other.app.get(DeliveryWorker).runOnce();
    await arrived;
    const closing = other.close();
    await paid(1);
    expect(await other.app.get(DeliveryWorker).runOnce()).toBe(0);
    release();
    await Promise.all([sending, closing]);
    expect(await dispatcher.getNotificationRow(payment!)).toMatchObject({ state: 'delivered', tries: 1 });
    expect(receiver.received).toHaveLength(1);
  });

  it('on shutdown aborts requests that do not finish and releases their leases, without counting the attempts', async () => {
    const other = await replica({ SVC_DELIVERY_DRAIN_MS: '50' });
    receiver.setBehaviours(() => undefined, respondWith(200));
    const [payment] = await paid(1);
    const arrived = receiver.nextRequest();
    const sending = other.app.get(DeliveryWorker).runOnce();
    await arrived;
    await other.close();
    await sending;
    expect(await dispatcher.getNotificationRow(payment!)).toMatchObject({ state: 'pending', tries: 0, lease_id: null });
    expect(await dispatcher.runOnce()).toBe(1);
    expect(new Set(idsReceived()).size).toBe(1);
    expect((await dispatcher.getNotificationRow(payment!)).state).toBe('delivered');
  });
});

describe('a start', () => {
  it('after the first publishes no second sealing key and decrypts existing secrets', async () => {
    const other = await replica();
    expect(await dispatcher.test.published(SealingKeyPublishedV1)).toHaveLength(1);
    await paid(1);
    expect(await other.app.get(DeliveryWorker).runOnce()).toBe(1);
    expect(receiver.received).toHaveLength(1);
    await other.close();
  });

  it('with another sealing key fails with the name of the variable', async () => {
    await expect(replica({ SVC_SEALING_KEY: randomBytes(32).toString('base64url') })).rejects.toThrow(
      'SVC_SEALING_KEY',
    );
  });

  it('in production rejects loopback endpoints', async () => {
    const other = await replica({ SVC_ENVIRONMENT: 'production' });
    const [plain] = await paid(1);
    const [tls] = await paid(1, `https://127.0.0.1:${receiver.port}/`);
    const [named] = await paid(1, 'https://localhost/');
    while ((await other.app.get(DeliveryWorker).runOnce()) > 0);
    expect(receiver.received).toHaveLength(0);
    expect(await dispatcher.getAttemptRows(plain!)).toMatchObject([{ error_class: 'address-refused:protocol' }]);
    expect(await dispatcher.getAttemptRows(tls!)).toMatchObject([{ error_class: 'address-refused:port' }]);
    expect(await dispatcher.getAttemptRows(named!)).toMatchObject([{ error_class: 'address-refused:loopback' }]);
    await other.close();
  });
});
