import { PaymentProcessingV1, type PaymentSnapshot, PaymentSucceededV1 } from '@svc/contracts';
import { Generations, ReadModelRebuild, type RebuildState, Transport } from '@svc/messaging';
import {
  aPayment,
  appendEvents,
  paymentEvent,
  startTestService,
  stubService,
  type TestService,
  waitUntil,
} from '@svc/testing';
import { ADMIN_KEY, type History, startHistory } from '../../test/history.js';
import { createOrganisation } from '../../test/organisation.js';
import { readServingRows } from '../../test/read-model.js';

let history: History;
let processor: TestService;
beforeAll(async () => {
  history = await startHistory();
  processor = await startTestService(stubService('payment-processor'), {
    broker: history.broker,
    clock: history.clock,
  });
  await processor.service.startRelaying();
});
afterAll(async () => {
  await processor.stop();
  await history.stop();
});

const publish = (payment: PaymentSnapshot, version = 2): Promise<void> =>
  appendEvents(processor.service, paymentEvent(payment, version));

/** POST requests a rebuild. GET reads the state of the rebuild. */
const callRebuildRoute = async (method: 'GET' | 'POST', headers = { 'x-admin-key': ADMIN_KEY }) => {
  const response = await history.service.app.inject({ method, url: '/admin/v1/history/rebuild', headers });
  return {
    status: response.statusCode,
    body: response.body === '' ? undefined : (JSON.parse(response.body) as RebuildState),
  };
};

test('a rebuild from the event log corrects wrong rows, changes no other rows, and does not interrupt reads', async () => {
  const organisation = await createOrganisation(history);
  const payments = Array.from({ length: 450 }, (_, i) =>
    aPayment(organisation.organisationId, organisation.customers[i % 2]!, {
      paymentUTCDate: new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString(),
    }),
  );
  for (const payment of payments) {
    await publish({ ...payment, state: 'processing', processedAmount: 0 }, 1);
    await publish(payment, 2);
  }
  const countPayments = async () =>
    (await history.dataSource.query<unknown[]>(`SELECT 1 FROM payments WHERE state = 'success'`)).length;
  await waitUntil('all payments in the history', 20_000, async () => (await countPayments()) === payments.length);
  const correctRows = await readServingRows(history.dataSource);

  expect((await callRebuildRoute('POST', { 'x-admin-key': 'an invalid administration key' })).status).toBe(401);
  // The test makes three errors: a missing payment, a wrong payment with a higher version, and wrong counts.
  const [deleted, corrupted] = payments;
  await history.dataSource.query(`DELETE FROM payments WHERE payment_reference = $1`, [deleted!.paymentReference]);
  await history.dataSource.query(`UPDATE payments SET amount = 1, version = 99 WHERE payment_reference = $1`, [
    corrupted!.paymentReference,
  ]);
  await history.dataSource.query(`UPDATE payment_counts SET payments = payments + 7 WHERE level = 2`);
  expect(await readServingRows(history.dataSource)).not.toEqual(correctRows);

  // Reads the second page, because the first page does not depend on the counts.
  const page = () => history.get('/v1/payments?page=2&pageSize=20', organisation.serviceHeaders);
  const { status, body } = await callRebuildRoute('POST');
  expect([status, body]).toEqual([202, { serving: 1, building: 2 }]);
  const latePayment = aPayment(organisation.organisationId, organisation.customers[0], {
    paymentUTCDate: '2025-12-31T00:00:00.000Z',
  });
  await publish(latePayment);
  await waitUntil('the new generation to serve', 20_000, async () => {
    expect((await page()).status).toBe(200);
    return (await callRebuildRoute('GET')).body?.building === null;
  });
  await waitUntil('the late payment', 20_000, async () => (await countPayments()) >= payments.length + 1);

  expect((await callRebuildRoute('GET')).body).toEqual({ serving: 2, building: null });
  expect((await history.getPayment(deleted!.paymentReference, organisation.serviceHeaders)).amount).toBe(12_345);
  expect((await history.getPayment(latePayment.paymentReference, organisation.serviceHeaders)).amount).toBe(12_345);
  const { payments: rows, counts } = await readServingRows(history.dataSource);
  expect(rows.filter((row) => row.payment_reference !== latePayment.paymentReference)).toEqual(correctRows.payments);
  expect(counts.length).toBeGreaterThan(correctRows.counts.length);

  // The old generation is deleted after a minute, because after this time no process writes to it any more.
  const rebuild = history.service.app.get(ReadModelRebuild);
  expect(await rebuild.runStep()).toBe(false);
  history.clock.advance(60_000);
  while (await rebuild.runStep());
  expect(
    await history.dataSource.query(
      `SELECT DISTINCT generation FROM payments UNION SELECT generation FROM payment_counts UNION SELECT generation FROM generations`,
    ),
  ).toEqual([{ generation: 2 }]);

  // A second rebuild changes nothing, because all rows are correct.
  const before = await readServingRows(history.dataSource);
  await callRebuildRoute('POST');
  await waitUntil(
    'the third generation to serve',
    20_000,
    async () => (await callRebuildRoute('GET')).body?.building === null,
  );
  expect((await callRebuildRoute('GET')).body).toEqual({ serving: 3, building: null });
  expect(await readServingRows(history.dataSource)).toEqual(before);
});

test('after a crash before the replay was requested, a new generation does not serve until another rebuild request', async () => {
  const before = await readServingRows(history.dataSource);
  const { serving } = (await callRebuildRoute('GET')).body!;
  const transport = history.service.app.get(Transport);
  // Begins a generation and schedules its replay, but does not request the replay: this is the state after the crash.
  await history.service.app
    .get(Generations)
    .begin((tx) => transport.scheduleReplay(tx, [PaymentProcessingV1, PaymentSucceededV1]));
  await history.service.app.get(ReadModelRebuild).runStep();
  expect((await callRebuildRoute('GET')).body).toEqual({ serving, building: serving + 1 });

  expect((await callRebuildRoute('POST')).body).toEqual({ serving, building: serving + 1 });
  await waitUntil(
    'the generation to serve',
    20_000,
    async () => (await callRebuildRoute('GET')).body?.serving === serving + 1,
  );
  expect(await readServingRows(history.dataSource)).toEqual(before);
});

test('several concurrent rebuild requests begin one generation, and only one replica makes it serve', async () => {
  const { serving } = (await callRebuildRoute('GET')).body!;
  const next = serving + 1;
  const generations = history.service.app.get(Generations);
  const scheduleReplay = jest.fn(() => Promise.resolve());
  const begunGenerations = await Promise.all(Array.from({ length: 8 }, () => generations.begin(scheduleReplay)));
  expect(begunGenerations.filter((generation) => generation !== undefined)).toEqual([next]);
  expect(scheduleReplay).toHaveBeenCalledTimes(1);

  const results = await Promise.all(Array.from({ length: 8 }, () => generations.serve(next)));
  expect(results.filter((isFirst) => isFirst)).toHaveLength(1);
  // A later call does not retire the serving generation.
  expect(await generations.serve(next)).toBe(false);
  expect((await callRebuildRoute('GET')).body).toEqual({ serving: next, building: null });
});
