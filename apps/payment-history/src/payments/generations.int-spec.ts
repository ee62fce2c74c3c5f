/**
 * Tests three generations (copies) of the read model: a retired generation, the serving generation, and a generation
 * that is being built.
 */
import type { PartnerPayment } from '@svc/contracts';
import { Generations, ReadModelRebuild, Transport } from '@svc/messaging';
import { aPayment, paymentEvent } from '@svc/testing';
import { type History, startHistory } from '../../test/history.js';
import { createOrganisation, type Organisation } from '../../test/organisation.js';
import { READ_MODEL } from './read-model.js';

const [RETIRED, SERVING, BUILDING] = [1, 2, 3];

let history: History;
let generations: Generations;
let organisation: Organisation;
/** Six payments, the newest first. */
let payments: readonly PartnerPayment[];

beforeEach(async () => {
  history = await startHistory();
  generations = history.service.app.get(Generations);
  organisation = await createOrganisation(history);
  payments = Array.from({ length: 6 }, (_, nth) =>
    aPayment(organisation.organisationId, organisation.customers[0], {
      paymentUTCDate: history.clock.later(-nth * 300_000).toISOString(),
    }),
  );
  await deliverVersion(1);
  await beginGeneration();
  await deliverVersion(2);
  expect(await generations.serve(SERVING)).toBe(true);
  await beginGeneration();
  await deliverVersion(3);
  await history.dataSource.query(`UPDATE payments SET merchant_name = 'being built' WHERE generation = $1`, [BUILDING]);
});
afterEach(() => history.stop());

const deliverVersion = (version: number) =>
  history.deliver(
    ...payments.map((payment) => paymentEvent({ ...payment, merchantName: `as of ${version}` }, version)),
  );
/** Begins a new generation. No publisher handles its replay request, so the generation is never complete. */
const beginGeneration = () =>
  generations.begin((tx) => history.service.app.get(Transport).scheduleReplay(tx, READ_MODEL.types));
const readGenerations = async (table: string, where = 'true') =>
  (
    await history.dataSource.query<{ generation: number }[]>(
      `SELECT DISTINCT generation FROM ${table} WHERE ${where} ORDER BY generation`,
    )
  ).map(({ generation }) => generation);

test('single payments and all pages, of an organisation or of a customer, are read from the serving generation', async () => {
  expect(await readGenerations('payments', `merchant_name = 'as of 2'`)).toEqual([RETIRED]);
  for (const headers of [organisation.serviceHeaders, organisation.customerHeaders[0]]) {
    for (const { paymentReference } of payments)
      expect(await history.getPayment(paymentReference, headers)).toMatchObject({ merchantName: 'as of 3' });
    for (const pageSize of [1, 4, 50]) {
      const listed: unknown[] = [];
      for (let page = 1; page <= payments.length + 1; page++)
        for (const payment of (await history.getPage(`?page=${page}&pageSize=${pageSize}`, headers))?.payments ?? [])
          listed.push([payment.paymentReference, payment.merchantName]);
      expect(listed).toEqual(payments.map(({ paymentReference }) => [paymentReference, 'as of 3']));
    }
  }
});

test('a payment that exists only in the generation being built is not found until this generation serves', async () => {
  const [{ paymentReference }] = payments as [PartnerPayment];
  await history.dataSource.query('DELETE FROM payments WHERE generation <> $1 AND payment_reference = $2', [
    BUILDING,
    paymentReference,
  ]);
  expect((await history.get(`/v1/payments/${paymentReference}`, organisation.serviceHeaders)).status).toBe(404);
  expect(await generations.serve(BUILDING)).toBe(true);
  expect(await history.getPayment(paymentReference, organisation.serviceHeaders)).toMatchObject({
    merchantName: 'being built',
  });
});

test('events are written to the serving generation and the generation being built, but not to a retired generation', async () => {
  const payment = aPayment(organisation.organisationId, organisation.customers[0]);
  await history.deliver(paymentEvent(payment));
  expect(await readGenerations('payments', `payment_reference = '${payment.paymentReference}'`)).toEqual([
    SERVING,
    BUILDING,
  ]);
});

test('only the generation being built can become the serving generation', async () => {
  for (const generation of [RETIRED, SERVING, BUILDING + 1]) expect(await generations.serve(generation)).toBe(false);
  expect([await generations.serving(), await generations.findBuilding()]).toEqual([SERVING, BUILDING]);
});

test.each([
  { retired: 'after the first', secondRetiresInMs: 30_000, firstRemovalInMs: 30_000, removedFirst: RETIRED },
  {
    retired: 'before the first, by the clock of another replica',
    secondRetiresInMs: -30_000,
    firstRemovalInMs: 60_000,
    removedFirst: SERVING,
  },
])('each generation is removed a minute after it retired (the second retired 30 s $retired)', async (testCase) => {
  const rebuild = history.service.app.get(ReadModelRebuild);
  history.clock.advance(testCase.secondRetiresInMs);
  expect(await generations.serve(BUILDING)).toBe(true);
  const remaining = [RETIRED, SERVING, BUILDING].filter((generation) => generation !== testCase.removedFirst);
  for (const [ms, expected] of [
    [testCase.firstRemovalInMs, remaining],
    [30_000, [BUILDING]],
  ] as const) {
    history.clock.advance(ms - 1);
    expect(await rebuild.runStep()).toBe(false);
    history.clock.advance(1);
    while (await rebuild.runStep());
    for (const table of ['payments', 'payment_counts', 'generations'])
      expect(await readGenerations(table)).toEqual(expected);
  }
});
