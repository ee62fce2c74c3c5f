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
import { anOrganisation, type Organisation } from '../test/organisation.js';
import { readModel } from '../test/read-model.js';
import { paymentHistoryService } from './index.js';
import { PaymentRepository } from './payments/payment.repository.js';

const identity = stubService('identity');
const processor = stubService('payment-processor');
const SETTINGS = { SVC_ADMIN_KEY: ADMIN_KEY };
/** More than the broker gives one replica at once. */
const PAYMENTS = 600;

let services: DistributedServices;
let payments: PartnerPayment[];
let ours: Organisation;
/** Of payment-processor, which is stopped and started again. */
let processorEnv: Readonly<Record<string, string>>;
let paying: RunningService;
let historyEnv: Readonly<Record<string, string>>;
/** A replica that is there from the beginning. */
let first: RunningService;

beforeAll(async () => {
  services = await DistributedServices.start();
  historyEnv = await services.environment(paymentHistoryService, SETTINGS);
  first = await services.start(paymentHistoryService, historyEnv);
  const who = await services.start(identity, await services.environment(identity));
  processorEnv = await services.environment(processor);
  paying = await services.start(processor, processorEnv);

  const deliver = (...events: EventEnvelope[]): Promise<void> => appendEvents(who, ...events);
  ours = await anOrganisation({ clock: new SystemClock(), deliver });
  payments = Array.from({ length: PAYMENTS }, (_, i) => aPaymentOfOurs(i));
  for (let i = 0; i < PAYMENTS; i += 100) await pay(...payments.slice(i, i + 100));
  const [last] = payments.slice(-1);
  await waitUntil('the first to know them', 20_000, () => isReadable(first, last!));
});
afterAll(() => services.close());

const aPaymentOfOurs = (minute: number): PartnerPayment =>
  aPayment(ours.organisationId, ours.customers[minute % 2]!, {
    paymentUTCDate: new Date(Date.UTC(2026, 0, 1) + minute * 60_000).toISOString(),
  });

function pay(...made: readonly PaymentSnapshot[]): Promise<void> {
  const begun = made.map((payment) => paymentEvent({ ...payment, state: 'processing', processedAmount: 0 }, 1));
  return appendEvents(paying, ...begun, ...made.map((payment) => paymentEvent(payment, 2)));
}

const statusAt = (replica: RunningService, { paymentReference }: PartnerPayment): Promise<number> =>
  requestStatus(replica, 'GET', `/v1/payments/${paymentReference}`, ours.server);

async function read(replica: RunningService, { paymentReference }: PartnerPayment): Promise<SinglePayment | undefined> {
  const url = `/v1/payments/${paymentReference}`;
  const { statusCode, body } = await replica.app.inject({ method: 'GET', url, headers: ours.server });
  return statusCode === 200 ? (JSON.parse(body) as SinglePayment) : undefined;
}

const isReadable = async (replica: RunningService, payment: PartnerPayment): Promise<boolean> =>
  (await read(replica, payment))?.status === SinglePaymentStatus.Success;

async function rebuild(replica: RunningService, method: 'GET' | 'POST'): Promise<RebuildState> {
  const url = '/admin/v1/history/rebuild';
  const { body } = await replica.app.inject({ method, url, headers: { 'x-admin-key': ADMIN_KEY } });
  return JSON.parse(body) as RebuildState;
}

const readBy = (replica: RunningService) => readModel(replica.app.get(DataSource));

/** On a database of its own, as a service that others do not know. */
async function startAnew(name: 'payment-history-late' | 'payment-history-anew'): Promise<RunningService> {
  const anew = { ...paymentHistoryService, name };
  return services.start(anew, await services.environment(anew, SETTINGS));
}

test('on a new database a replica is ready only when it has all earlier payments', async () => {
  await services.stop(paying);
  const late = await startAnew('payment-history-late');
  expect(await isReady(late)).toBe(false);
  paying = await services.start(processor, processorEnv);
  await waitUntil('the late one to be ready', 20_000, () => isReady(late));
  // At once, with nothing waited for.
  expect(await readBy(late)).toEqual(await readBy(first));
  expect(await Promise.all([0, 300, 599].map((i) => statusAt(late, payments[i]!)))).toEqual([200, 200, 200]);
  await services.stop(late);
});

/** In this replica, events of that payment block before the database; all others continue. */
function stopAt(
  { reference }: PartnerPayment,
  replica: RunningService,
): { reached: Promise<void>; resume: () => void } {
  const payments = replica.app.get(PaymentRepository);
  const keep = payments.upsertAll.bind(payments);
  const [reached, door] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  jest.spyOn(payments, 'upsertAll').mockImplementation(async (batch) => {
    if (batch.some(({ payment }) => payment.reference === reference)) {
      reached.resolve();
      await door.promise;
    }
    await keep(batch);
  });
  return { reached: reached.promise, resume: door.resolve };
}

test('a rebuild by two replicas during payments: reads continue, it begins once, and the surviving replica finishes it', async () => {
  // Restarted, so that the replica that crashes is the one that receives the replay.
  await services.stop(first);
  const dying = await services.startKillable(paymentHistoryService, historyEnv);
  first = await services.start(paymentHistoryService, historyEnv);
  const [replica, other] = [first, dying.service];
  const dataSource = replica.app.get(DataSource);
  const [wrong] = payments;
  await dataSource.query(`UPDATE payments SET amount = 1, version = 99 WHERE payment_reference = $1`, [
    wrong!.paymentReference,
  ]);

  const middle = stopAt(payments[PAYMENTS / 2]!, other);
  const begun = await Promise.all([replica, other].map((one) => rebuild(one, 'POST')));
  expect(begun).toEqual([
    { serving: 1, building: 2 },
    { serving: 1, building: 2 },
  ]);

  // Reads of existing payments, on any running replica, until the new copy serves.
  const seen = new Map<number, number>();
  let isOver = false;
  const reader = (async () => {
    for (let i = 1; !isOver; i++) {
      const status = await statusAt(replica, payments[1 + (i % (PAYMENTS - 1))]!);
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
  })();
  try {
    await middle.reached;
    // Payments continue, and none of them waits for the replay.
    const meanwhile = Array.from({ length: 50 }, (_, i) => aPaymentOfOurs(PAYMENTS + i));
    await pay(...meanwhile);
    await waitUntil('the last of them', 10_000, () => isReadable(replica, meanwhile.at(-1)!));
    expect(await rebuild(replica, 'POST')).toEqual({ serving: 1, building: 2 });
    expect((await read(replica, wrong!))?.amount).toBe(1);

    const killed = dying.kill();
    middle.resume();
    await killed;
    await waitUntil('the new copy to serve', 30_000, async () => (await rebuild(replica, 'GET')).building === null);
    expect(await rebuild(replica, 'GET')).toEqual({ serving: 2, building: null });
    // At once: the other replica received the crashed one's events before the new copy served.
    expect((await read(replica, wrong!))?.amount).toBe(wrong!.amount);
  } finally {
    isOver = true;
    middle.resume();
    await reader;
  }
  expect([...seen.keys()]).toEqual([200]);
  expect(seen.get(200)).toBeGreaterThan(50);

  // A replay of each of the two published types was requested once.
  const asked = await paying.app
    .get(DataSource)
    .query<unknown[]>(`SELECT 1 FROM replays WHERE service = $1`, [paymentHistoryService.name]);
  expect(asked).toHaveLength(2);
  // A new service with an empty database gets the same result from the log.
  const late = await startAnew('payment-history-anew');
  await waitUntil('another one to be ready', 20_000, () => isReady(late));
  const rebuilt = await readBy(replica);
  expect(rebuilt.payments).toHaveLength(PAYMENTS + 50);
  expect(rebuilt).toEqual(await readBy(late));
});
