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

const happen = (payment: PaymentSnapshot, version = 2): Promise<void> =>
  appendEvents(processor.service, paymentEvent(payment, version));

const call = async (method: 'GET' | 'POST', headers = { 'x-admin-key': ADMIN_KEY }) => {
  const answer = await history.service.app.inject({ method, url: '/admin/v1/history/rebuild', headers });
  return {
    status: answer.statusCode,
    body: answer.body === '' ? undefined : (JSON.parse(answer.body) as RebuildState),
  };
};

test('a rebuild from the log, with concurrent reads, corrects wrong rows and changes no others', async () => {
  const ours = await createOrganisation(history);
  const payments = Array.from({ length: 450 }, (_, i) =>
    aPayment(ours.organisationId, ours.customers[i % 2]!, {
      paymentUTCDate: new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString(),
    }),
  );
  for (const payment of payments) {
    await happen({ ...payment, state: 'processing', processedAmount: 0 }, 1);
    await happen(payment, 2);
  }
  const known = async () =>
    (await history.dataSource.query<unknown[]>(`SELECT 1 FROM payments WHERE state = 'success'`)).length;
  await waitUntil('the history to know all', 20_000, async () => (await known()) === payments.length);
  const right = await readServingRows(history.dataSource);

  expect((await call('POST', { 'x-admin-key': 'somebody else with a key of no use' })).status).toBe(401);
  // Three errors: a missing payment, an additional one, and a wrong one with a later version.
  const [gone, wrong] = payments;
  await history.dataSource.query(`DELETE FROM payments WHERE payment_reference = $1`, [gone!.paymentReference]);
  await history.dataSource.query(`UPDATE payments SET amount = 1, version = 99 WHERE payment_reference = $1`, [
    wrong!.paymentReference,
  ]);
  await history.dataSource.query(`UPDATE payment_counts SET payments = payments + 7 WHERE level = 2`);
  expect(await readServingRows(history.dataSource)).not.toEqual(right);

  // In a page behind the first, so that wrong counts show.
  const page = () => history.get('/v1/payments?page=2&pageSize=20', ours.serviceHeaders);
  const { status, body } = await call('POST');
  expect([status, body]).toEqual([202, { serving: 1, building: 2 }]);
  const late = aPayment(ours.organisationId, ours.customers[0], { paymentUTCDate: '2025-12-31T00:00:00.000Z' });
  await happen(late);
  await waitUntil('the new copy to serve', 20_000, async () => {
    expect((await page()).status).toBe(200);
    return (await call('GET')).body?.building === null;
  });
  await waitUntil('the late payment', 20_000, async () => (await known()) >= payments.length + 1);

  expect((await call('GET')).body).toEqual({ serving: 2, building: null });
  expect((await history.getPayment(gone!.paymentReference, ours.serviceHeaders)).amount).toBe(12_345);
  expect((await history.getPayment(late.paymentReference, ours.serviceHeaders)).amount).toBe(12_345);
  const { payments: rows, counts } = await readServingRows(history.dataSource);
  expect(rows.filter((row) => row.payment_reference !== late.paymentReference)).toEqual(right.payments);
  expect(counts.length).toBeGreaterThan(right.counts.length);

  // The old copy is deleted once no process can write to it.
  const rebuild = history.service.app.get(ReadModelRebuild);
  expect(await rebuild.runOnce()).toBe(false);
  history.clock.advance(60_000);
  while (await rebuild.runOnce());
  expect(
    await history.dataSource.query(
      `SELECT DISTINCT generation FROM payments UNION SELECT generation FROM payment_counts UNION SELECT generation FROM generations`,
    ),
  ).toEqual([{ generation: 2 }]);

  // A second rebuild, of correct rows, changes nothing.
  const before = await readServingRows(history.dataSource);
  await call('POST');
  await waitUntil('the third copy to serve', 20_000, async () => (await call('GET')).body?.building === null);
  expect((await call('GET')).body).toEqual({ serving: 3, building: null });
  expect(await readServingRows(history.dataSource)).toEqual(before);
});

test('after a crash before the replay request, no copy counts as complete, and another request continues', async () => {
  const before = await readServingRows(history.dataSource);
  const { serving } = (await call('GET')).body!;
  const transport = history.service.app.get(Transport);
  await history.service.app
    .get(Generations)
    .begin((tx) => transport.scheduleReplay(tx, [PaymentProcessingV1, PaymentSucceededV1]));
  await history.service.app.get(ReadModelRebuild).runOnce();
  expect((await call('GET')).body).toEqual({ serving, building: serving + 1 });

  expect((await call('POST')).body).toEqual({ serving, building: serving + 1 });
  await waitUntil('it to serve', 20_000, async () => (await call('GET')).body?.serving === serving + 1);
  expect(await readServingRows(history.dataSource)).toEqual(before);
});

test('only one of several concurrent rebuild requests starts, and only one of several replicas makes the copy serve', async () => {
  const { serving } = (await call('GET')).body!;
  const next = serving + 1;
  const generations = history.service.app.get(Generations);
  const miss = jest.fn(() => Promise.resolve());
  const begun = await Promise.all(Array.from({ length: 8 }, () => generations.begin(miss)));
  expect(begun.filter((generation) => generation !== undefined)).toEqual([next]);
  expect(miss).toHaveBeenCalledTimes(1);

  const served = await Promise.all(Array.from({ length: 8 }, () => generations.serve(next)));
  expect(served.filter((isFirst) => isFirst)).toHaveLength(1);
  // A later call does not retire the serving generation.
  expect(await generations.serve(next)).toBe(false);
  expect((await call('GET')).body).toEqual({ serving: next, building: null });
});
