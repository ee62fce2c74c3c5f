/** The read model keeps the newest version of each payment until it is older than all windows, also during a rebuild. */
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
let ours: Merchant;
beforeEach(async () => {
  retrieval = await startRetrieval();
  processor = await startTestService(stubService('payment-processor'), {
    broker: retrieval.broker,
    clock: retrieval.clock,
  });
  ours = await createMerchant(retrieval);
});
afterEach(async () => {
  await processor.stop();
  await retrieval.stop();
});

const rows = (columns = 'payment_reference, version, tip_amount') =>
  retrieval.dataSource.query<Record<string, unknown>[]>(
    `SELECT ${columns} FROM payments WHERE generation = (SELECT generation FROM generations WHERE state = 'serving')
      ORDER BY payment_reference`,
  );
const seen = async ({ paymentReference }: PaymentSnapshot) =>
  retrieval.list(`/${ours.merchantId}/payments/${paymentReference}`, ours.keys.merchant);

test('the newest of several versions is kept, in any order, in one batch and in several', async () => {
  const payment = newPaymentAt(ours, retrieval.clock.now());
  const version = (number: number) => paymentEvent({ ...payment, tipAmount: number }, number);
  await retrieval.deliver(version(2), version(4), version(3));
  const { paymentReference: payment_reference } = payment;
  expect(await rows()).toEqual([{ payment_reference, version: 4, tip_amount: 4 }]);
  await retrieval.deliver(version(3));
  await retrieval.deliver(paymentEvent({ ...payment, tipAmount: 9 }, 4));
  expect(await rows()).toEqual([{ payment_reference, version: 4, tip_amount: 4 }]);
  await retrieval.deliver(version(5));
  expect(await rows()).toEqual([{ payment_reference, version: 5, tip_amount: 5 }]);
});

test('a payment that is not final is not stored', async () => {
  const payment = newPaymentAt(ours, retrieval.clock.now());
  for (const [type, state] of [
    [PaymentProcessingV1, 'processing'],
    [PaymentVerificationRequiredV1, 'verificationRequired'],
  ] as const)
    await retrieval.deliver(anEvent(type, payment.reference, 1, { ...payment, state }));
  expect(await seen(payment)).toEqual([]);
});

test('rows are written in the order of their references, in each copy, so that two replicas cause no deadlock', async () => {
  await retrieval.dataSource.query(
    `INSERT INTO generations (generation, state, begun_at) VALUES (2, 'building', now())`,
  );
  const payments = Array.from({ length: 100 }, () => newPaymentAt(ours, retrieval.clock.now()));
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
  const call = async (method: 'GET' | 'POST', adminKey = ADMIN_KEY) => {
    const url = '/admin/v1/retrieval/rebuild';
    const answer = await retrieval.service.app.inject({ method, url, headers: { 'x-admin-key': adminKey } });
    return { status: answer.statusCode, body: (answer.body ? JSON.parse(answer.body) : {}) as RebuildState };
  };

  test('from the log, during reads, ends with the content of the events, without payments outside the window', async () => {
    await processor.service.startRelaying();
    const payments = Array.from({ length: 60 }, (_, nth) => newPaymentAt(ours, retrieval.clock.later(-nth * 86_400_000)));
    const old = newPaymentAt(ours, retrieval.clock.later(-93 * 86_400_000));
    for (const payment of [...payments, old]) await appendEvents(processor.service, paymentEvent(payment));
    await waitUntil('all payments', 20_000, async () => (await rows()).length === payments.length);
    const right = await rows('*');
    const notices = () =>
      retrieval.dataSource.query<unknown[]>('SELECT notice_id, position FROM notices ORDER BY position');
    const sent = await waitUntil('all notices', 20_000, async () => {
      const written = await notices();
      return written.length === payments.length + 1 && written;
    });

    const [gone, wrong] = payments as [PaymentSnapshot, PaymentSnapshot];
    const { paymentReference: ofGone } = gone;
    await retrieval.dataSource.query('DELETE FROM payments WHERE payment_reference = $1', [ofGone]);
    await retrieval.dataSource.query('UPDATE payments SET tip_amount = 7, version = 99 WHERE payment_reference = $1', [
      wrong.paymentReference,
    ]);
    expect((await call('POST', 'another key of the same length 000')).status).toBe(401);
    expect(await call('POST')).toEqual({ status: 202, body: { serving: 1, building: 2 } });
    await waitUntil('the new copy to serve', 20_000, async () => {
      // The service is readable meanwhile.
      expect(await seen(payments[2]!)).toHaveLength(1);
      return (await call('GET')).body.building === null;
    });
    expect((await call('GET')).body).toEqual({ serving: 2, building: null });
    expect(await rows('*')).toEqual(right.map((row) => ({ ...row, generation: 2 })));

    // The streams send nothing again (M6).
    expect(await notices()).toEqual(sent);

    // Rows of both copies are in the same partitions, at positions that partitions share.
    retrieval.clock.advance(60_000);
    const rebuild = retrieval.service.app.get(ReadModelRebuild);
    while (await rebuild.runOnce());
    expect(await retrieval.dataSource.query('SELECT DISTINCT generation FROM payments')).toEqual([{ generation: 2 }]);
    expect(await rows('*')).toEqual(right.map((row) => ({ ...row, generation: 2 })));
  });

  test('only the serving copy is read; events are written to it and to the one being built', async () => {
    const generations = retrieval.service.app.get(Generations);
    // No publisher answers the replay request, so the service itself does not let the copy serve.
    const begin = () =>
      generations.begin((tx) => retrieval.service.app.get(Transport).scheduleReplay(tx, READ_MODEL.types));
    const before = newPaymentAt(ours, retrieval.clock.now());
    await retrieval.deliver(paymentEvent(before));
    expect(await begin()).toBe(2);
    const during = newPaymentAt(ours, retrieval.clock.now());
    await retrieval.deliver(paymentEvent(during));
    expect([(await seen(before)).length, (await seen(during)).length]).toEqual([1, 1]);
    expect(await generations.serve(2)).toBe(true);
    expect([(await seen(before)).length, (await seen(during)).length]).toEqual([0, 1]);
    const after = newPaymentAt(ours, retrieval.clock.now());
    await retrieval.deliver(paymentEvent(after));
    expect(
      await retrieval.dataSource.query('SELECT generation FROM payments WHERE payment_reference = $1', [
        after.paymentReference,
      ]),
    ).toEqual([{ generation: 2 }]);
  });
});
