/** Tests that the read model has the newest version of each payment of three months, even during a rebuild. */
import { PaymentProcessingV1, type PaymentSnapshot, PaymentVerificationRequiredV1 } from '@svc/contracts';
import { Generations, ReadModelRebuild, type RebuildState, Transport } from '@svc/messaging';
import {
  anEvent,
  appendEvents,
  paymentEvent,
  startTestService,
  stubService,
  type TestService,
  waitUntil,
} from '@svc/testing';
import {
  ADMIN_KEY,
  createMerchant,
  type Merchant,
  newPaymentAt,
  type Retrieval,
  startRetrieval,
} from '../../test/retrieval.js';
import { PaymentRepository } from './payment.repository.js';
import { READ_MODEL } from './read-model.js';

let retrieval: Retrieval;
let processor: TestService;
let merchant: Merchant;
beforeEach(async () => {
  retrieval = await startRetrieval();
  processor = await startTestService(stubService('payment-processor'), {
    broker: retrieval.broker,
    clock: retrieval.clock,
  });
  merchant = await createMerchant(retrieval);
});
afterEach(async () => {
  await processor.stop();
  await retrieval.stop();
});

const readRows = (columns = 'payment_reference, version, tip_amount') =>
  retrieval.dataSource.query<Record<string, unknown>[]>(
    `SELECT ${columns} FROM payments WHERE generation = (SELECT generation FROM generations WHERE state = 'serving')
      ORDER BY payment_reference`,
  );
const listPayment = async ({ paymentReference }: PaymentSnapshot) =>
  retrieval.list(`/${merchant.merchantId}/payments/${paymentReference}`, merchant.keys.merchant);

test('the newest version of a payment is stored, regardless of the order and the batches in which versions arrive', async () => {
  const payment = newPaymentAt(merchant, retrieval.clock.now());
  const eventOfVersion = (number: number) => paymentEvent({ ...payment, tipAmount: number }, number);
  await retrieval.deliver(eventOfVersion(2), eventOfVersion(4), eventOfVersion(3));
  const { paymentReference: payment_reference } = payment;
  expect(await readRows()).toEqual([{ payment_reference, version: 4, tip_amount: 4 }]);
  await retrieval.deliver(eventOfVersion(3));
  await retrieval.deliver(paymentEvent({ ...payment, tipAmount: 9 }, 4));
  expect(await readRows()).toEqual([{ payment_reference, version: 4, tip_amount: 4 }]);
  await retrieval.deliver(eventOfVersion(5));
  expect(await readRows()).toEqual([{ payment_reference, version: 5, tip_amount: 5 }]);
});

test('a payment that is not final is not stored', async () => {
  const payment = newPaymentAt(merchant, retrieval.clock.now());
  for (const [type, state] of [
    [PaymentProcessingV1, 'processing'],
    [PaymentVerificationRequiredV1, 'verificationRequired'],
  ] as const)
    await retrieval.deliver(anEvent(type, payment.reference, 1, { ...payment, state }));
  expect(await listPayment(payment)).toEqual([]);
});

test('each generation is written in the order of payment references, so that two replicas do not deadlock', async () => {
  await retrieval.dataSource.query(
    `INSERT INTO generations (generation, state, begun_at) VALUES (2, 'building', now())`,
  );
  const payments = Array.from({ length: 100 }, () => newPaymentAt(merchant, retrieval.clock.now()));
  await retrieval.service.app.get(PaymentRepository).upsertAll(payments.map((payment) => ({ payment, version: 1 })));
  const written = await retrieval.dataSource.query<unknown[]>(
    `SELECT generation, payment_reference FROM payments ORDER BY tableoid, ctid`,
  );
  const references = payments.map(({ paymentReference }) => paymentReference).toSorted();
  expect(written).toEqual(
    [1, 2].flatMap((generation) => references.map((payment_reference) => ({ generation, payment_reference }))),
  );
});

describe('a rebuild', () => {
  /** POST requests a rebuild. GET reads the state of the rebuild. */
  const callRebuildRoute = async (method: 'GET' | 'POST', adminKey = ADMIN_KEY) => {
    const url = '/admin/v1/retrieval/rebuild';
    const response = await retrieval.service.app.inject({ method, url, headers: { 'x-admin-key': adminKey } });
    return { status: response.statusCode, body: (response.body ? JSON.parse(response.body) : {}) as RebuildState };
  };

  test('corrects all rows from the event log, and skips payments that are older than three months', async () => {
    await processor.service.startRelaying();
    const payments = Array.from({ length: 60 }, (_, nth) =>
      newPaymentAt(merchant, retrieval.clock.later(-nth * 86_400_000)),
    );
    const oldPayment = newPaymentAt(merchant, retrieval.clock.later(-93 * 86_400_000));
    for (const payment of [...payments, oldPayment]) await appendEvents(processor.service, paymentEvent(payment));
    await waitUntil('all payments', 20_000, async () => (await readRows()).length === payments.length);
    const correctRows = await readRows('*');
    const notifications = () =>
      retrieval.dataSource.query<unknown[]>('SELECT notification_id, position FROM notifications ORDER BY position');
    const notificationsBefore = await waitUntil('all notifications', 20_000, async () => {
      const written = await notifications();
      return written.length === payments.length + 1 && written;
    });

    const [deleted, corrupted] = payments as [PaymentSnapshot, PaymentSnapshot];
    const { paymentReference: deletedReference } = deleted;
    await retrieval.dataSource.query('DELETE FROM payments WHERE payment_reference = $1', [deletedReference]);
    await retrieval.dataSource.query('UPDATE payments SET tip_amount = 7, version = 99 WHERE payment_reference = $1', [
      corrupted.paymentReference,
    ]);
    expect((await callRebuildRoute('POST', 'another key of the same length 000')).status).toBe(401);
    expect(await callRebuildRoute('POST')).toEqual({ status: 202, body: { serving: 1, building: 2 } });
    await waitUntil('the new generation to serve', 20_000, async () => {
      // Queries are possible during the rebuild.
      expect(await listPayment(payments[2]!)).toHaveLength(1);
      return (await callRebuildRoute('GET')).body.building === null;
    });
    expect((await callRebuildRoute('GET')).body).toEqual({ serving: 2, building: null });
    expect(await readRows('*')).toEqual(correctRows.map((row) => ({ ...row, generation: 2 })));

    // The streams do not send the notifications again (M6).
    expect(await notifications()).toEqual(notificationsBefore);

    // The old generation is deleted after a minute. Both generations have rows in the same partitions.
    retrieval.clock.advance(60_000);
    const rebuild = retrieval.service.app.get(ReadModelRebuild);
    while (await rebuild.runStep());
    expect(await retrieval.dataSource.query('SELECT DISTINCT generation FROM payments')).toEqual([{ generation: 2 }]);
    expect(await readRows('*')).toEqual(correctRows.map((row) => ({ ...row, generation: 2 })));
  });

  test('writes events to the serving and to the new generation, and queries read only the serving generation', async () => {
    const generations = retrieval.service.app.get(Generations);
    // No publisher handles the replay request, so the service does not make the new generation serve on its own.
    const beginGeneration = () =>
      generations.begin((tx) => retrieval.service.app.get(Transport).scheduleReplay(tx, READ_MODEL.types));
    const before = newPaymentAt(merchant, retrieval.clock.now());
    await retrieval.deliver(paymentEvent(before));
    expect(await beginGeneration()).toBe(2);
    const during = newPaymentAt(merchant, retrieval.clock.now());
    await retrieval.deliver(paymentEvent(during));
    expect([(await listPayment(before)).length, (await listPayment(during)).length]).toEqual([1, 1]);
    expect(await generations.serve(2)).toBe(true);
    expect([(await listPayment(before)).length, (await listPayment(during)).length]).toEqual([0, 1]);
    const after = newPaymentAt(merchant, retrieval.clock.now());
    await retrieval.deliver(paymentEvent(after));
    expect(
      await retrieval.dataSource.query('SELECT generation FROM payments WHERE payment_reference = $1', [
        after.paymentReference,
      ]),
    ).toEqual([{ generation: 2 }]);
  });
});
