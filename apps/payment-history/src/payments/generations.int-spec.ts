/** Three copies of the read model at the same time: a retired one, the serving one, and one that is being built. */
import type { PartnerPayment } from '@svc/contracts';
import { Generations, ReadModelRebuild, Transport } from '@svc/messaging';
import { aPayment, paymentEvent } from '@svc/testing';
import { type History, startHistory } from '../../test/history.js';
import { createOrganisation, type Organisation } from '../../test/organisation.js';
import { READ_MODEL } from './read-model.js';

const [RETIRED, SERVING, BUILDING] = [1, 2, 3];

let history: History;
let generations: Generations;
let ours: Organisation;
/** The newest first. */
let payments: readonly PartnerPayment[];

beforeEach(async () => {
  history = await startHistory();
  generations = history.service.app.get(Generations);
  ours = await createOrganisation(history);
  payments = Array.from({ length: 6 }, (_, nth) =>
    aPayment(ours.organisationId, ours.customers[0], {
      paymentUTCDate: history.clock.later(-nth * 300_000).toISOString(),
    }),
  );
  await deliver(1);
  await begin();
  await deliver(2);
  expect(await generations.serve(SERVING)).toBe(true);
  await begin();
  await deliver(3);
  await history.dataSource.query(`UPDATE payments SET merchant_name = 'being built' WHERE generation = $1`, [BUILDING]);
});
afterEach(() => history.stop());

const deliver = (version: number) =>
  history.deliver(
    ...payments.map((payment) => paymentEvent({ ...payment, merchantName: `as of ${version}` }, version)),
  );
/** Nothing answers the replay request, so the service itself does not let the copy serve. */
const begin = () => generations.begin((tx) => history.service.app.get(Transport).scheduleReplay(tx, READ_MODEL.types));
const rowsOf = async (table: string, where = 'true') =>
  (
    await history.dataSource.query<{ generation: number }[]>(
      `SELECT DISTINCT generation FROM ${table} WHERE ${where} ORDER BY generation`,
    )
  ).map(({ generation }) => generation);

test('only the serving copy is read: for a payment, and for every page of an organisation and of a customer', async () => {
  expect(await rowsOf('payments', `merchant_name = 'as of 2'`)).toEqual([RETIRED]);
  for (const headers of [ours.serviceHeaders, ours.customerHeaders[0]]) {
    for (const { paymentReference } of payments)
      expect(await history.getPayment(paymentReference, headers)).toMatchObject({ merchantName: 'as of 3' });
    for (const pageSize of [1, 4, 50]) {
      const seen: unknown[] = [];
      for (let page = 1; page <= payments.length + 1; page++)
        for (const payment of (await history.getPage(`?page=${page}&pageSize=${pageSize}`, headers))?.payments ?? [])
          seen.push([payment.paymentReference, payment.merchantName]);
      expect(seen).toEqual(payments.map(({ paymentReference }) => [paymentReference, 'as of 3']));
    }
  }
});

test('a payment that exists only in the copy being built is not found yet', async () => {
  const [{ paymentReference }] = payments as [PartnerPayment];
  await history.dataSource.query('DELETE FROM payments WHERE generation <> $1 AND payment_reference = $2', [
    BUILDING,
    paymentReference,
  ]);
  expect((await history.get(`/v1/payments/${paymentReference}`, ours.serviceHeaders)).status).toBe(404);
  expect(await generations.serve(BUILDING)).toBe(true);
  expect(await history.getPayment(paymentReference, ours.serviceHeaders)).toMatchObject({ merchantName: 'being built' });
});

test('events are written to the serving copy and to the one being built, not to a retired one', async () => {
  const payment = aPayment(ours.organisationId, ours.customers[0]);
  await history.deliver(paymentEvent(payment));
  expect(await rowsOf('payments', `payment_reference = '${payment.paymentReference}'`)).toEqual([SERVING, BUILDING]);
});

test('only the copy being built can become the serving one', async () => {
  for (const generation of [RETIRED, SERVING, BUILDING + 1]) expect(await generations.serve(generation)).toBe(false);
  expect([await generations.serving(), await generations.findBuilding()]).toEqual([SERVING, BUILDING]);
});

test.each([
  { retired: 'later', ms: 30_000, firstDueInMs: 30_000, first: RETIRED },
  { retired: 'earlier, by the clock of another replica', ms: -30_000, firstDueInMs: 60_000, first: SERVING },
])('of two retired copies, the second 30 s $retired, each is removed after its own minute', async (times) => {
  const rebuild = history.service.app.get(ReadModelRebuild);
  history.clock.advance(times.ms);
  expect(await generations.serve(BUILDING)).toBe(true);
  const left = [RETIRED, SERVING, BUILDING].filter((generation) => generation !== times.first);
  for (const [ms, expected] of [
    [times.firstDueInMs, left],
    [30_000, [BUILDING]],
  ] as const) {
    history.clock.advance(ms - 1);
    expect(await rebuild.runOnce()).toBe(false);
    history.clock.advance(1);
    while (await rebuild.runOnce());
    for (const table of ['payments', 'payment_counts', 'generations']) expect(await rowsOf(table)).toEqual(expected);
  }
});
