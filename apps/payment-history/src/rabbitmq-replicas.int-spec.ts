import {
  type EventEnvelope,
  type PartnerPayment,
  type PaymentSnapshot,
  type SinglePayment,
  SinglePaymentStatus,
} from '@svc/contracts';
import { SystemClock } from '@svc/kernel';
import type { RebuildState } from '@svc/messaging';
import type { RunningService } from '@svc/service';
import {
  aPayment,
  appendEvents,
  DistributedServices,
  isReady,
  paymentEvent,
  requestStatus,
  stubService,
  waitUntil,
} from '@svc/testing';
import { DataSource } from 'typeorm';
import { ADMIN_KEY } from '../test/history.js';
import { createOrganisation, type Organisation } from '../test/organisation.js';
import { readServingRows } from '../test/read-model.js';
import { paymentHistoryService } from './index.js';
import { PaymentRepository } from './payments/payment.repository.js';

const identity = stubService('identity');
const processor = stubService('payment-processor');
const SETTINGS = { SVC_ADMIN_KEY: ADMIN_KEY };
/** The number of payments. It is more than the prefetch of one replica. */
const PAYMENTS = 600;

let services: DistributedServices;
let payments: PartnerPayment[];
let organisation: Organisation;
/** Environment of payment-processor, which tests stop and start again. */
let processorEnv: Readonly<Record<string, string>>;
let processorService: RunningService;
let historyEnv: Readonly<Record<string, string>>;
/** A replica of payment-history. It runs during all tests, and one test restarts it. */
let first: RunningService;

beforeAll(async () => {
  services = await DistributedServices.start();
  historyEnv = await services.environment(paymentHistoryService, SETTINGS);
  first = await services.start(paymentHistoryService, historyEnv);
  const identityService = await services.start(identity, await services.environment(identity));
  processorEnv = await services.environment(processor);
  processorService = await services.start(processor, processorEnv);

  const deliver = (...events: EventEnvelope[]): Promise<void> => appendEvents(identityService, ...events);
  organisation = await createOrganisation({ clock: new SystemClock(), deliver });
  payments = Array.from({ length: PAYMENTS }, (_, i) => newPaymentAtMinute(i));
  for (let i = 0; i < PAYMENTS; i += 100) await publishPayments(...payments.slice(i, i + 100));
  const [last] = payments.slice(-1);
  await waitUntil('the payments at the first replica', 20_000, () => isReadable(first, last!));
});
afterAll(() => services.close());

const newPaymentAtMinute = (minute: number): PartnerPayment =>
  aPayment(organisation.organisationId, organisation.customers[minute % 2]!, {
    paymentUTCDate: new Date(Date.UTC(2026, 0, 1) + minute * 60_000).toISOString(),
  });

function publishPayments(...newPayments: readonly PaymentSnapshot[]): Promise<void> {
  const processingEvents = newPayments.map((payment) =>
    paymentEvent({ ...payment, state: 'processing', processedAmount: 0 }, 1),
  );
  return appendEvents(processorService, ...processingEvents, ...newPayments.map((payment) => paymentEvent(payment, 2)));
}

const statusAt = (replica: RunningService, { paymentReference }: PartnerPayment): Promise<number> =>
  requestStatus(replica, 'GET', `/v1/payments/${paymentReference}`, organisation.serviceHeaders);

async function getPayment(
  replica: RunningService,
  { paymentReference }: PartnerPayment,
): Promise<SinglePayment | undefined> {
  const url = `/v1/payments/${paymentReference}`;
  const { statusCode, body } = await replica.app.inject({ method: 'GET', url, headers: organisation.serviceHeaders });
  return statusCode === 200 ? (JSON.parse(body) as SinglePayment) : undefined;
}

const isReadable = async (replica: RunningService, payment: PartnerPayment): Promise<boolean> =>
  (await getPayment(replica, payment))?.status === SinglePaymentStatus.Success;

/** POST requests a rebuild. GET reads the state of the rebuild. */
async function callRebuildRoute(replica: RunningService, method: 'GET' | 'POST'): Promise<RebuildState> {
  const url = '/admin/v1/history/rebuild';
  const { body } = await replica.app.inject({ method, url, headers: { 'x-admin-key': ADMIN_KEY } });
  return JSON.parse(body) as RebuildState;
}

const readRows = (replica: RunningService) => readServingRows(replica.app.get(DataSource));

/** Starts payment-history under another name with an empty database. */
async function startNewService(name: 'payment-history-late' | 'payment-history-new'): Promise<RunningService> {
  const newService = { ...paymentHistoryService, name };
  return services.start(newService, await services.environment(newService, SETTINGS));
}

test('a service with an empty database becomes ready only when it has all earlier payments', async () => {
  await services.stop(processorService);
  const newReplica = await startNewService('payment-history-late');
  expect(await isReady(newReplica)).toBe(false);
  processorService = await services.start(processor, processorEnv);
  await waitUntil('the new replica to be ready', 20_000, () => isReady(newReplica));
  // The new replica must have all rows when it is ready, so the test does not wait for the rows.
  expect(await readRows(newReplica)).toEqual(await readRows(first));
  expect(await Promise.all([0, 300, 599].map((i) => statusAt(newReplica, payments[i]!)))).toEqual([200, 200, 200]);
  await services.stop(newReplica);
});

/** Makes this replica wait before it stores a batch with this payment. It waits until `resume` is called. */
function blockUpsertOf(
  { reference }: PartnerPayment,
  replica: RunningService,
): { reached: Promise<void>; resume: () => void } {
  const repository = replica.app.get(PaymentRepository);
  const upsertAll = repository.upsertAll.bind(repository);
  const [reached, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  jest.spyOn(repository, 'upsertAll').mockImplementation(async (batch) => {
    if (batch.some(({ payment }) => payment.reference === reference)) {
      reached.resolve();
      await resumed.promise;
    }
    await upsertAll(batch);
  });
  return { reached: reached.promise, resume: resumed.resolve };
}

test('a rebuild begins once if two replicas request it, does not interrupt reads, and completes if a replica is killed', async () => {
  // The killable replica starts before the other replica, so that the killable replica receives the replay.
  await services.stop(first);
  const killable = await services.startKillable(paymentHistoryService, historyEnv);
  first = await services.start(paymentHistoryService, historyEnv);
  const [replica, other] = [first, killable.service];
  const dataSource = replica.app.get(DataSource);
  const [corrupted] = payments;
  await dataSource.query(`UPDATE payments SET amount = 1, version = 99 WHERE payment_reference = $1`, [
    corrupted!.paymentReference,
  ]);

  const blocked = blockUpsertOf(payments[PAYMENTS / 2]!, other);
  const rebuildStates = await Promise.all([replica, other].map((each) => callRebuildRoute(each, 'POST')));
  expect(rebuildStates).toEqual([
    { serving: 1, building: 2 },
    { serving: 1, building: 2 },
  ]);

  // The reader reads existing payments until the new generation serves.
  const statusCounts = new Map<number, number>();
  let isDone = false;
  const reader = (async () => {
    for (let i = 1; !isDone; i++) {
      const status = await statusAt(replica, payments[1 + (i % (PAYMENTS - 1))]!);
      statusCounts.set(status, (statusCounts.get(status) ?? 0) + 1);
    }
  })();
  try {
    await blocked.reached;
    // New payments are stored without waiting for the replay.
    const newPayments = Array.from({ length: 50 }, (_, i) => newPaymentAtMinute(PAYMENTS + i));
    await publishPayments(...newPayments);
    await waitUntil('the last payment', 10_000, () => isReadable(replica, newPayments.at(-1)!));
    expect(await callRebuildRoute(replica, 'POST')).toEqual({ serving: 1, building: 2 });
    expect((await getPayment(replica, corrupted!))?.amount).toBe(1);

    const killed = killable.kill();
    blocked.resume();
    await killed;
    await waitUntil(
      'the new generation to serve',
      30_000,
      async () => (await callRebuildRoute(replica, 'GET')).building === null,
    );
    expect(await callRebuildRoute(replica, 'GET')).toEqual({ serving: 2, building: null });
    // The new generation serves only after it has the events that the killed replica had not stored.
    expect((await getPayment(replica, corrupted!))?.amount).toBe(corrupted!.amount);
  } finally {
    isDone = true;
    blocked.resume();
    await reader;
  }
  expect([...statusCounts.keys()]).toEqual([200]);
  expect(statusCounts.get(200)).toBeGreaterThan(50);

  // For each of the four event types of payment-processor, one replay was requested.
  const requestedReplays = await processorService.app
    .get(DataSource)
    .query<unknown[]>(`SELECT 1 FROM replays WHERE service = $1`, [paymentHistoryService.name]);
  expect(requestedReplays).toHaveLength(4);
  // A new service with an empty database gets the same result from the log.
  const newReplica = await startNewService('payment-history-new');
  await waitUntil('the new service to be ready', 20_000, () => isReady(newReplica));
  const rebuilt = await readRows(replica);
  expect(rebuilt.payments).toHaveLength(PAYMENTS + 50);
  expect(rebuilt).toEqual(await readRows(newReplica));
});
