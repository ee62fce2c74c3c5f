import { randomBytes, randomUUID } from 'node:crypto';
import { type HostedPaymentSnapshot, PaymentFailedV1, PaymentSucceededV1, SealingKeyPublishedV1 } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { type RunningService, startService } from '@svc/service';
import { anEvent, waitUntil } from '@svc/testing';
import { DISPATCHER_ENV, DispatcherUnderTest } from '../../test/dispatcher.js';
import { Receiver, respondWith } from '../../test/receiver.js';
import { webhookDispatcherService } from '../index.js';
import { DeliveryAttemptRepository } from './delivery-attempt.repository.js';
import { DeliveryAttemptRecorder } from './delivery-attempt-recorder.js';
import { DeliveryLeaseRepository } from './delivery-lease.repository.js';
import { DeliveryWorker } from './delivery-worker.js';
import { DueSignal } from './due-signal.js';

const SECOND = 1_000;

let dispatcher: DispatcherUnderTest;
let receiver: Receiver;

/** Maximum number of concurrent requests to one endpoint. */
const MAX_PER_ENDPOINT = 4;

beforeEach(async () => {
  dispatcher = await DispatcherUnderTest.start({
    SVC_DELIVERY_CONCURRENCY: '20',
    SVC_DELIVERY_CONCURRENCY_PER_ENDPOINT: String(MAX_PER_ENDPOINT),
  });
  await dispatcher.deliverDefaultSecrets();
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.stop();
  await dispatcher.test.stop();
});

/** Starts another process of the service on the same database, with the same clock. */
function startReplica(env: Record<string, string> = {}, broker = new EmbeddedBroker()): Promise<RunningService> {
  const { url } = dispatcher.test.dataSource.options as { url: string };
  const base = { SVC_ENVIRONMENT: 'development', SVC_LOG_LEVEL: 'silent', SVC_DATABASE_URL: url, ...DISPATCHER_ENV };
  return startService(webhookDispatcherService, { env: { ...base, ...env }, broker, clock: dispatcher.clock });
}

async function deliverNewPayments(count: number, url = receiver.url): Promise<HostedPaymentSnapshot[]> {
  const payments = Array.from({ length: count }, () => dispatcher.newPayment(url));
  for (const payment of payments) await dispatcher.deliverPayments(payment);
  return payments;
}

const receivedIds = (): string[] => receiver.received.map(({ headers }) => String(headers['webhook-id']));

describe('workers', () => {
  it('send each notification once when they run concurrently', async () => {
    await deliverNewPayments(60);
    const replica = await startReplica();
    const workers = [dispatcher.worker, replica.app.get(DeliveryWorker)];
    const counts = await Promise.all(
      workers.map(async (worker) => {
        let sent = 0;
        for (let count = 1; count > 0; sent += count) count = await worker.runStep();
        return sent;
      }),
    );
    expect(counts[0]! + counts[1]!).toBe(60);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(receivedIds()).toHaveLength(60);
    expect(new Set(receivedIds()).size).toBe(60);
    await replica.close();
  });

  it('send a notification again with the same webhook-id after its worker crashed, and ignore a late result', async () => {
    const [payment] = await deliverNewPayments(1);
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
    expect(await dispatcher.runStep()).toBe(0);
    dispatcher.clock.advance(1 * SECOND);
    expect(await dispatcher.runStep()).toBe(1);
    const { id } = await dispatcher.getNotificationRow(payment!);
    expect(receivedIds()).toEqual([id, id]);

    const now = dispatcher.clock.now();
    const lateResult = { outcome: 'refused', state: 'gone', nextAttemptAt: undefined } as const;
    const response = { statusCode: 410, durationMs: 1 };
    const attempt = { notification: leased!, response, result: lateResult, startedAt: now, endedAt: now };
    expect(
      await new DeliveryAttemptRecorder(new DeliveryAttemptRepository(dataSource), new DueSignal(dataSource)).record(
        attempt,
      ),
    ).toBe(false);
    expect(await dispatcher.getNotificationRow(payment!)).toMatchObject({ state: 'delivered', attempt_count: 1 });
    expect(await dispatcher.getAttemptRows(payment!)).toMatchObject([{ attempt_number: 1, outcome: 'acknowledged' }]);
  });

  it('do not send a notification if they were suspended after they leased it', async () => {
    const [payment] = await deliverNewPayments(1);
    // The clock jumps forward after the lease and before the request.
    const leasing = jest.spyOn(dispatcher.clock, 'later').mockImplementationOnce((ms) => {
      const until = new Date(dispatcher.clock.now().getTime() + ms);
      dispatcher.clock.advance(25 * SECOND);
      return until;
    });
    await dispatcher.runStep();
    leasing.mockRestore();
    expect(receiver.received).toHaveLength(0);
    expect(await dispatcher.getNotificationRow(payment!)).toMatchObject({
      state: 'pending',
      attempt_count: 0,
      lease_id: null,
    });
    await dispatcher.runStep();
    expect(receiver.received).toHaveLength(1);
  });

  it('send to other endpoints while one endpoint with many due notifications does not respond', async () => {
    const slow = await Receiver.start();
    const releases: (() => void)[] = [];
    slow.setBehaviours((response) => releases.push(() => response.writeHead(200).end()));
    await deliverNewPayments(30, slow.url);
    const allPermitsUsed = (async () => {
      while (slow.received.length < 4) await slow.nextRequest();
    })();
    const hanging = dispatcher.runStep();
    await allPermitsUsed;

    dispatcher.clock.advance(1);
    await deliverNewPayments(5);
    expect(await dispatcher.runStep()).toBe(4);
    expect(await dispatcher.runStep()).toBe(1);
    expect(receiver.received).toHaveLength(5);
    expect(slow.received).toHaveLength(4);

    for (const release of releases) release();
    expect(await hanging).toBe(4);
    await slow.stop();
  });

  it('never have more requests in flight than the limit', async () => {
    let open = 0;
    let maxOpen = 0;
    const waiting: (() => void)[] = [];
    receiver.setBehaviours((response) => {
      maxOpen = Math.max(maxOpen, ++open);
      waiting.push(() => {
        open--;
        response.writeHead(200).end();
      });
      // Responds when four requests are waiting, or when all ten requests have arrived.
      if (waiting.length === 4 || receiver.received.length === 10) for (const respond of waiting.splice(0)) respond();
    });
    await deliverNewPayments(10);
    while ((await dispatcher.runStep()) > 0);
    expect(receiver.received).toHaveLength(10);
    expect(maxOpen).toBe(4);
  });
});

describe('the loop of a worker', () => {
  /**
   * Starts a process whose worker polls at this interval. If the interval is a minute, only signals wake the worker
   * during a test.
   */
  async function startLoop(
    pollMs: string,
  ): Promise<{ service: RunningService; deliver: (...payments: HostedPaymentSnapshot[]) => Promise<void> }> {
    const broker = new EmbeddedBroker();
    const env = {
      SVC_DELIVERY: 'on',
      SVC_DELIVERY_POLL_MS: pollMs,
      SVC_DELIVERY_CONCURRENCY_PER_ENDPOINT: String(MAX_PER_ENDPOINT),
    };
    const service = await startReplica(env, broker);
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
    const { service, deliver } = await startLoop('60000');
    for (let i = 1; i <= 2; i++) {
      await deliver(dispatcher.newPayment(receiver.url));
      await waitUntil('the notification', 5_000, async () => receiver.received.length === i);
    }
    await service.close();
    expect(receiver.paymentStatuses).toEqual(['Success', 'Success']);
  });

  it('sends recorded notifications immediately while permits are free, and the rest as permits become free', async () => {
    const { service, deliver } = await startLoop('60000');
    let open = 0;
    let maxOpen = 0;
    receiver.setBehaviours((response) => {
      maxOpen = Math.max(maxOpen, ++open);
      setImmediate(() => {
        open--;
        response.writeHead(200).end();
      });
    });
    const payments = Array.from({ length: 11 }, () => dispatcher.newPayment(receiver.url));
    await deliver(...payments);
    await waitUntil('all notifications', 5_000, async () => receiver.received.length === payments.length);
    expect(maxOpen).toBeLessThanOrEqual(MAX_PER_ENDPOINT);
    expect(new Set(receivedIds()).size).toBe(payments.length);
    await waitUntil('the results', 5_000, async () => {
      const rows = await Promise.all(payments.map((payment) => dispatcher.getNotificationRow(payment)));
      return rows.every(
        ({ state, attempt_count, lease_id }) => state === 'delivered' && attempt_count === 1 && lease_id === null,
      );
    });
    await service.close();
  });

  it('sends notifications that wait for a permit before newer notifications', async () => {
    const { service, deliver } = await startLoop('60000');
    const releases: (() => void)[] = [];
    receiver.setBehaviours((response) => releases.push(() => response.writeHead(200).end()));
    const payments = Array.from({ length: 10 }, () => dispatcher.newPayment(receiver.url));
    for (const payment of payments) {
      await deliver(payment);
      dispatcher.clock.advance(1);
    }
    for (let respondedCount = 0; respondedCount < payments.length; respondedCount++) {
      // Frees one permit at a time, because two concurrent requests could arrive in any order.
      const inFlight = Math.min(respondedCount + MAX_PER_ENDPOINT, payments.length);
      await waitUntil('every permit to be used', 5_000, async () => releases.length === inFlight);
      releases[respondedCount]!();
    }
    const order = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { paymentReference: string }).paymentReference,
    );
    expect(order.slice(MAX_PER_ENDPOINT)).toEqual(
      payments.slice(MAX_PER_ENDPOINT).map(({ paymentReference }) => paymentReference),
    );
    await service.close();
  });

  // A Success is the notification of a successful payment, a Failed is the notification of a failed payment.
  it('sends a Success right after the Failed of its session, if the Failed was in flight when the Success was recorded', async () => {
    const { service, deliver } = await startLoop('60000');
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

  it('leaves notifications to other workers if they are recorded during its shutdown', async () => {
    const { service, deliver } = await startLoop('60000');
    await service.app.get(DeliveryWorker).onModuleDestroy();
    const payment = dispatcher.newPayment(receiver.url);
    await deliver(payment);
    expect(await dispatcher.getNotificationRow(payment)).toMatchObject({ state: 'pending', lease_id: null });
    expect(await dispatcher.runStep()).toBe(1);
    await service.close();
  });

  it('finds notifications that have become due', async () => {
    const { service, deliver } = await startLoop('20');
    receiver.setBehaviours(respondWith(500), respondWith(200));
    const payment = dispatcher.newPayment(receiver.url);
    await deliver(payment);
    await waitUntil(
      'the first attempt',
      5_000,
      async () => (await dispatcher.getNotificationRow(payment)).attempt_count === 1,
    );
    dispatcher.clock.advance(6 * SECOND);
    await waitUntil(
      'the second attempt',
      5_000,
      async () => (await dispatcher.getNotificationRow(payment)).state === 'delivered',
    );
    await service.close();
    expect(await dispatcher.getNotificationRow(payment)).toMatchObject({ attempt_count: 2 });
    expect(receiver.received).toHaveLength(2);
  });

  it('waits for requests in flight on shutdown, and leases no further notifications', async () => {
    const replica = await startReplica();
    let release: () => void = () => undefined;
    receiver.setBehaviours((response) => {
      release = () => response.writeHead(200).end();
    }, respondWith(200));
    const [payment] = await deliverNewPayments(1);
    const arrived = receiver.nextRequest();
    const sending = replica.app.get(DeliveryWorker).runStep();
    await arrived;
    const closing = replica.close();
    await deliverNewPayments(1);
    expect(await replica.app.get(DeliveryWorker).runStep()).toBe(0);
    release();
    await Promise.all([sending, closing]);
    expect(await dispatcher.getNotificationRow(payment!)).toMatchObject({ state: 'delivered', attempt_count: 1 });
    expect(receiver.received).toHaveLength(1);
  });

  it('aborts requests that do not end during shutdown, releases their leases, and does not count the attempts', async () => {
    const replica = await startReplica({ SVC_DELIVERY_DRAIN_MS: '50' });
    receiver.setBehaviours(() => undefined, respondWith(200));
    const [payment] = await deliverNewPayments(1);
    const arrived = receiver.nextRequest();
    const sending = replica.app.get(DeliveryWorker).runStep();
    await arrived;
    await replica.close();
    await sending;
    expect(await dispatcher.getNotificationRow(payment!)).toMatchObject({
      state: 'pending',
      attempt_count: 0,
      lease_id: null,
    });
    expect(await dispatcher.runStep()).toBe(1);
    expect(new Set(receivedIds()).size).toBe(1);
    expect((await dispatcher.getNotificationRow(payment!)).state).toBe('delivered');
  });
});

describe('a restarted service', () => {
  it('publishes no second sealing key, and decrypts existing secrets', async () => {
    const replica = await startReplica();
    expect(await dispatcher.test.published(SealingKeyPublishedV1)).toHaveLength(1);
    await deliverNewPayments(1);
    expect(await replica.app.get(DeliveryWorker).runStep()).toBe(1);
    expect(receiver.received).toHaveLength(1);
    await replica.close();
  });

  it('does not start with another SVC_SEALING_KEY, and the error names this variable', async () => {
    await expect(startReplica({ SVC_SEALING_KEY: randomBytes(32).toString('base64url') })).rejects.toThrow(
      'SVC_SEALING_KEY',
    );
  });

  it('does not send to loopback addresses in production', async () => {
    const replica = await startReplica({ SVC_ENVIRONMENT: 'production' });
    const [httpPayment] = await deliverNewPayments(1);
    const [httpsPayment] = await deliverNewPayments(1, `https://127.0.0.1:${receiver.port}/`);
    const [hostPayment] = await deliverNewPayments(1, 'https://localhost/');
    while ((await replica.app.get(DeliveryWorker).runStep()) > 0);
    expect(receiver.received).toHaveLength(0);
    expect(await dispatcher.getAttemptRows(httpPayment!)).toMatchObject([{ error_class: 'address-refused:protocol' }]);
    expect(await dispatcher.getAttemptRows(httpsPayment!)).toMatchObject([{ error_class: 'address-refused:port' }]);
    expect(await dispatcher.getAttemptRows(hostPayment!)).toMatchObject([{ error_class: 'address-refused:loopback' }]);
    await replica.close();
  });
});
