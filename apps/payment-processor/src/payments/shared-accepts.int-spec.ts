/** Tests payments that are accepted in one shared statement. Each payment has its own outcome. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { propagation } from '@opentelemetry/api';
import { type HostedPayableDescriptor, PaymentProcessingV1, type PaymentSnapshot } from '@svc/contracts';
import { sqlState } from '@svc/persistence';
import { inProgress } from '@svc/testing';
import { changeRow } from '../../test/attempts/open-attempt.js';
import {
  acceptWith,
  APPROVED,
  createStoredPayable,
  DECLINED,
  holdAccepts,
  holdSettlements,
  spyOnStatements,
  startReplica,
  type TestReplica,
} from '../../test/attempts/shared-statements.js';
import { buildPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { CHARGEABLE_STATES } from './attempt.js';

let processor: Processor;
let replica: TestReplica;
beforeAll(async () => {
  processor = await startProcessor();
  replica = await startReplica(processor);
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await replica.stop();
  await processor.stop();
});

const CHECK_VIOLATION = '23514';

const accept = (payable: HostedPayableDescriptor, options?: Parameters<typeof acceptWith>[3]) =>
  acceptWith(replica.payments, processor, payable, options);
const readPayables = (payables: readonly HostedPayableDescriptor[]): Promise<unknown[]> =>
  processor.dataSource.query(`SELECT * FROM payables WHERE payable_id = ANY ($1) ORDER BY payable_id`, [
    payables.map(({ payableId }) => payableId),
  ]);
const findEvents = async (payables: readonly HostedPayableDescriptor[]) => {
  const ids = new Set(payables.map(({ payableId }) => payableId));
  const events = await processor.published(PaymentProcessingV1);
  return events.filter(({ payload }) => ids.has(payload.payable.payableId));
};

async function createFailedTry(payable: HostedPayableDescriptor, reference: string = randomUUID()): Promise<void> {
  const attempt = await accept(payable, { reference });
  await replica.payments.settle(attempt!, DECLINED, CHARGEABLE_STATES);
}

test('each payment has its own outcome, version, merchant and site', async () => {
  for (const [id, name] of [
    [701, 'Karoo Books'],
    [702, 'Vlei Foods'],
  ]) {
    await processor.dataSource.query(
      `INSERT INTO known_merchants (merchant_id, name, features, grants, minimum_amount, fees, version)
       VALUES ($1, $2, '{}', '{}', 100, '{}', 1)`,
      [id, name],
    );
    await processor.dataSource.query(`INSERT INTO known_sites VALUES ($1, $1, $2, 1)`, [id, `WEB ${id}`]);
  }
  await processor.dataSource.query(`INSERT INTO known_sites VALUES (703, 703, 'WEB 703', 1)`);
  const [idsOfBooks, idsOfFoods, mixedIds] = [
    { merchantId: 701, siteId: 701 },
    { merchantId: 702, siteId: 702 },
    { merchantId: 701, siteId: 702 },
  ];
  const payableWithFailedPayment = await createStoredPayable(processor, idsOfBooks);
  await createFailedTry(payableWithFailedPayment);
  const availablePayables = [
    await createStoredPayable(processor, idsOfBooks),
    buildPayable(idsOfFoods),
    payableWithFailedPayment,
  ];

  /** Changes of a payable, each with the number of the payment that is then rejected. */
  const changes: [string, number][] = [
    [`state = 'reserved', holder = gen_random_uuid()`, 1],
    [`state = 'closed'`, 1],
    [`expires_at = '2026-03-01T10:00:00.000Z'`, 1],
    [`amount = 12344`, 1],
    [`mode = 'live'`, 1],
    [`currency = 'NAD'`, 1],
    [`merchant_id = 1002`, 1],
    [`site_id = 5002`, 1],
    [`payment_count = 1`, 1],
    [`payment_count = 0`, 2],
    [`payment_count = 3, max_payments = 3`, 4],
  ];
  const rejectedPayables: [HostedPayableDescriptor, number][] = [];
  for (const [change, nth] of changes) {
    const payable = await createStoredPayable(processor);
    await changeRow(processor, `UPDATE payables SET ${change} WHERE payable_id = $1`, payable.payableId);
    rejectedPayables.push([payable, nth]);
  }
  rejectedPayables.push(
    [buildPayable({ expiresAt: '2026-03-01T10:00:00.000Z' }), 1],
    [buildPayable(), 2],
    [buildPayable({ maxPayments: 1 }), 2],
    // The site is unknown, belongs to another merchant, or has an unknown merchant.
    [buildPayable({ ...idsOfBooks, siteId: 704 }), 1],
    [buildPayable(mixedIds), 1],
    [await createStoredPayable(processor, mixedIds), 1],
    [buildPayable({ merchantId: 703, siteId: 703 }), 1],
  );
  const before = await readPayables(rejectedPayables.map(([payable]) => payable));

  await using held = await holdAccepts(processor, replica.payments);
  const statements = spyOnStatements(replica.dataSource);
  const rejections = rejectedPayables.map(([payable, nth]) => accept(payable, { paymentNumber: nth }));
  const accepts = availablePayables.map((payable) =>
    accept(payable, { paymentNumber: payable === payableWithFailedPayment ? 2 : 1 }),
  );
  await held.release();
  expect(await Promise.all(rejections)).toEqual(rejectedPayables.map(() => undefined));
  const accepted = await Promise.all(accepts);

  expect(statements.batches().map((ids) => ids.length)).toEqual([availablePayables.length + rejectedPayables.length]);
  const names = (merchantName: string, siteReference: string) => ({ merchantName, siteReference });
  const summary = ({ merchantName, siteReference, payable }: PaymentSnapshot) => {
    return { merchantName, siteReference, version: payable.version, paymentCount: payable.paymentCount };
  };
  expect(accepted.map((attempt) => summary(attempt!.payment))).toEqual([
    { ...names('Karoo Books', 'WEB 701'), version: 2, paymentCount: 1 },
    { ...names('Vlei Foods', 'WEB 702'), version: 2, paymentCount: 1 },
    { ...names('Karoo Books', 'WEB 701'), version: 4, paymentCount: 2 },
  ]);
  const eventsByPayment = new Map((await findEvents(availablePayables)).map((event) => [event.aggregateId, event]));
  for (const { paymentId, attemptId, payment } of accepted.map((attempt) => attempt!)) {
    expect(eventsByPayment.get(paymentId)).toMatchObject({ aggregateVersion: 1, payload: inProgress(payment) });
    expect(await replica.payments.find(payment.payable.payableId, payment.reference)).toEqual(payment);
    expect(
      await processor.dataSource.query(`SELECT payment_id, state FROM attempts WHERE attempt_id = $1`, [attemptId]),
    ).toEqual([{ payment_id: paymentId, state: 'started' }]);
  }
  expect(await readPayables(rejectedPayables.map(([payable]) => payable))).toEqual(before);
  expect(await findEvents(rejectedPayables.map(([payable]) => payable))).toEqual([]);
});

test('a payment with the reference of an earlier payment is rejected without an effect on other payments in the same statement', async () => {
  const [payable, reference] = [await createStoredPayable(processor), randomUUID()];
  await createFailedTry(payable, reference);
  const validPayables = Array.from({ length: 9 }, () => buildPayable());
  await using held = await holdAccepts(processor, replica.payments);
  const statements = spyOnStatements(replica.dataSource);
  const accepts = validPayables.map((validPayable) => accept(validPayable));
  const paymentWithUsedReference = accept(payable, { paymentNumber: 2, reference });
  await held.release();
  expect((await Promise.all(accepts)).every(Boolean)).toBe(true);
  expect(await paymentWithUsedReference).toBeUndefined();
  expect(statements.batches().map((ids) => ids.length)).toEqual([10]);
  expect(await readPayables([payable])).toMatchObject([{ state: 'open', payment_count: 1, version: 3 }]);
  expect(await accept(payable, { paymentNumber: 2 })).toBeDefined();
});

test('if the database rejects one of a hundred rows, only the payment of that row fails', async () => {
  const payable = { ...buildPayable(), amount: -1 };
  const validPayables = Array.from({ length: 99 }, () => buildPayable());
  await using held = await holdAccepts(processor, replica.payments);
  const statements = spyOnStatements(replica.dataSource);
  const accepts = validPayables.slice(0, 30).map((validPayable) => accept(validPayable));
  const invalidPayment = accept(payable).catch((error: unknown) => error);
  accepts.push(...validPayables.slice(30).map((validPayable) => accept(validPayable)));
  await held.release();
  const results = await Promise.all(accepts);

  expect(sqlState(await invalidPayment)).toBe(CHECK_VIOLATION);
  expect(results.map((attempt) => attempt?.payment.payable.payableId)).toEqual(
    validPayables.map(({ payableId }) => payableId),
  );
  // The batch of 50 with the invalid row fails, and each of its payments is then repeated in a separate statement.
  const sizes = statements.batches().map((ids) => ids.length);
  expect(sizes.sort((a, b) => b - a)).toEqual([50, 50, ...Array<number>(50).fill(1)]);
  expect(new Set(statements.texts()).size).toBe(1);
  const aggregates = (await findEvents(validPayables)).map(({ aggregateId }) => aggregateId);
  expect(aggregates.sort()).toEqual(results.map((attempt) => attempt!.paymentId).sort());
  expect(await readPayables([payable])).toEqual([]);
});

test('one of many concurrent payments of a payable is accepted, even if some contain its id in upper case', async () => {
  const payable = await createStoredPayable(processor);
  const payableWithUppercaseId = { ...payable, payableId: payable.payableId.toUpperCase() };
  await using held = await holdAccepts(processor, replica.payments);
  const statements = spyOnStatements(replica.dataSource);
  const accepts = Array.from({ length: 30 }, (_, nth) => accept(nth % 2 === 0 ? payable : payableWithUppercaseId));
  const otherAccepts = Array.from({ length: 10 }, () => accept(buildPayable()));
  await held.release();
  expect((await Promise.all(accepts)).filter(Boolean)).toHaveLength(1);
  expect((await Promise.all(otherAccepts)).filter(Boolean)).toHaveLength(10);
  // A statement contains each payable once, so 30 payments of one payable need 30 statements.
  expect(statements.batches()).toHaveLength(30);
  expect(statements.batches()[0]).toHaveLength(11);
});

test('each statement wakes the relay once, and only for the events that it has written', async () => {
  const wakeUps: (readonly string[])[] = [];
  replica.events.onCommitted = (types) => wakeUps.push(types);
  await using held = await holdAccepts(processor, replica.payments);
  const accepts = [buildPayable(), buildPayable(), buildPayable({ expiresAt: '2026-03-01T10:00:00.000Z' })].map(
    (payable) => accept(payable),
  );
  await held.release();
  await Promise.all(accepts);
  const [processingEvent, failedEvent] = [['payment.processing.v1'], ['payment.failed.v1']];
  // Three statements: the two held statements, and one statement for the three payments.
  expect(wakeUps).toEqual([processingEvent, processingEvent, processingEvent]);
  const [first, ended] = (await Promise.all(accepts)).map((attempt) => attempt!);
  await changeRow(
    processor,
    `UPDATE attempts SET state = 'declined', ended_at = started_at, next_query_at = NULL WHERE payment_id = $1`,
    ended!.paymentId,
  );
  await using heldSettlements = await holdSettlements(processor, replica.payments);
  const settled = [replica.payments.settle(first!, DECLINED, CHARGEABLE_STATES)];
  settled.push(replica.payments.settle(ended!, APPROVED, CHARGEABLE_STATES));
  await heldSettlements.release();
  await Promise.all(settled);
  expect(wakeUps.slice(3)).toEqual([failedEvent, failedEvent, failedEvent]);
  expect(await accept(buildPayable({ expiresAt: '2026-03-01T10:00:00.000Z' }))).toBeUndefined();
  expect(await replica.payments.settle(ended!, APPROVED, CHARGEABLE_STATES)).toBeUndefined();
  expect(wakeUps).toHaveLength(6);
  replica.events.onCommitted = () => undefined;
});

test('each event belongs to the trace of its own payment', async () => {
  const trace = new AsyncLocalStorage<string>();
  propagation.setGlobalPropagator({
    inject: (_, carrier, setter) => setter.set(carrier, 'traceparent', trace.getStore() ?? 'none'),
    extract: (context) => context,
    fields: () => ['traceparent'],
  });
  try {
    const payables = Array.from({ length: 20 }, () => buildPayable());
    const ids = payables.map(({ payableId }) => payableId);
    const runInTraces = <T>(run: (index: number) => Promise<T>) =>
      ids.map((id, index) => trace.run(`trace of ${id}`, () => run(index)));
    await using held = await holdAccepts(processor, replica.payments);
    const accepts = runInTraces((index) => accept(payables[index]!));
    await held.release();
    const openAttempts = await Promise.all(accepts);
    await using heldSettlements = await holdSettlements(processor, replica.payments);
    const settled = runInTraces((index) => replica.payments.settle(openAttempts[index]!, APPROVED, CHARGEABLE_STATES));
    await heldSettlements.release();
    await Promise.all(settled);
    const traces = await processor.dataSource.query<{ id: string; traceparent: string }[]>(
      `SELECT payload -> 'payable' ->> 'payableId' AS id, traceparent FROM event_log
        WHERE payload -> 'payable' ->> 'payableId' = ANY ($1)`,
      [ids],
    );
    expect(traces.map(({ id, traceparent }) => [id, traceparent]).sort()).toEqual(
      ids.flatMap((id) => [1, 2].map(() => [id, `trace of ${id}`])).sort(),
    );
  } finally {
    propagation.disable();
  }
});
