/**
 * Tests the scheduling of reconciliations: nightly runs, replicas that crash, and days that are compared again. A row
 * that became final after the watermark of a run is open: it is not compared, because its event may not have been
 * delivered yet.
 */
import { AuditTrail } from '@svc/auth';
import {
  DigestHistoryV1,
  DigestNotificationsV1,
  type DigestPage,
  DigestRetrievalV1,
  DigestSessionsV1,
  ListHistoryV1,
  ListNotificationsV1,
  ListNotifiedSitesV1,
  ListRetrievalV1,
  ListSessionsV1,
} from '@svc/contracts';
import { SERVICE_LOG } from '@svc/service';
import { GaugeReader, httpClient } from '@svc/testing';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import type { StatementLine } from '../acquirers/acquirer.js';
import { DayTotalsQuery } from './day-totals.query.js';
import { ReconcileDay } from './reconcile-day.js';
import { ReconciliationRepository } from './reconciliation.repository.js';
import { ReconciliationJob } from './reconciliation-job.js';
import { StatementRepository } from './statement.repository.js';

const ADMIN_KEY = 'an administration key for tests 1';
let gauges: GaugeReader;
let processor: Processor;
let job: ReconciliationJob;
let runs: ReconciliationRepository;
/** The page with which all other services respond. If it is undefined, the other services do not respond. */
let otherServicesPage: DigestPage | undefined;
beforeEach(async () => {
  gauges = GaugeReader.begin();
  processor = await startProcessor({ SVC_ADMIN_KEY: ADMIN_KEY });
  otherServicesPage = { digests: [] };
  const buildResponder = (page: () => object | undefined) => () =>
    Promise.resolve(
      page() === undefined
        ? { ok: false, code: 'service.not-ready', message: 'unavailable', fields: [] }
        : { ok: true, reply: page() },
    );
  const respond = (type: { readonly name: string }, page: () => object | undefined): Promise<unknown> =>
    processor.broker.respond(type.name, buildResponder(page));
  await respond(ListNotifiedSitesV1, () => otherServicesPage && { sites: [] });
  for (const type of [DigestHistoryV1, DigestNotificationsV1, DigestRetrievalV1, DigestSessionsV1])
    await respond(type, () => otherServicesPage);
  for (const type of [ListHistoryV1, ListNotificationsV1, ListRetrievalV1, ListSessionsV1])
    await respond(type, () => otherServicesPage && { lines: [] });
  runs = processor.service.app.get(ReconciliationRepository);
  // The job of the started service is already stopped, but it may have requested nightly runs.
  const { app } = processor.service;
  job = new ReconciliationJob(
    runs,
    app.get(ReconcileDay),
    processor.clock,
    app.get(SERVICE_LOG),
    processor.dataSource,
    app.get(AuditTrail),
  );
  await processor.dataSource.query(`DELETE FROM reconciliations`);
});
afterEach(async () => {
  await processor.stop();
  gauges.end();
});

interface Row {
  readonly day: string;
  readonly night: string | null;
  readonly state: string;
}
const readRuns = (): Promise<Row[]> =>
  processor.dataSource.query(
    `SELECT day::text, night::text, state FROM reconciliations ORDER BY requested_at, day DESC`,
  );
async function runAll(): Promise<void> {
  while (await job.runStep());
}
const advanceHours = (hours: number): void => processor.clock.advance(hours * 3_600_000);

test('each night the previous day is compared once, also with several replicas', async () => {
  await Promise.all([runs.requestNight('2026-03-01', '2026-02-28'), runs.requestNight('2026-03-01', '2026-02-28')]);
  await runAll();
  expect(await readRuns()).toEqual([{ day: '2026-02-28', night: '2026-03-01', state: 'done' }]);
  advanceHours(24);
  await runAll();
  expect(await readRuns()).toHaveLength(2);
});

test('the nightly run starts half an hour after midnight', async () => {
  await runAll();
  // The clock starts at 10:00 UTC, so this is one second before 00:30.
  processor.clock.advance(14 * 3_600_000 + 1_799_000);
  await runAll();
  expect((await readRuns()).map(({ day }) => day)).toEqual(['2026-02-28']);
  processor.clock.advance(1_000);
  await runAll();
  expect((await readRuns()).map(({ day }) => day)).toEqual(['2026-02-28', '2026-03-01']);
});

test('a day with open rows is compared again in the next night', async () => {
  await runAll();
  await processor.pay(buildPayable(), { card: CARDS.responseLost });
  advanceHours(24);
  await runAll();
  expect(await readRuns()).toHaveLength(2);
  await processor.recoverAttempts();
  otherServicesPage = undefined;
  advanceHours(24);
  await job.runStep();
  expect((await readRuns()).slice(2).map(({ day }) => day)).toEqual(['2026-03-02', '2026-03-01']);
});

test('a nightly run that fails is tried three times, and its day is compared again in the next night', async () => {
  otherServicesPage = undefined;
  const states: unknown[] = [];
  for (let round = 0; round < 4; round++) {
    await runAll();
    states.push((await readRuns())[0]?.state);
    processor.clock.advance(60_000);
  }
  expect(states).toEqual(['running', 'running', 'failed', 'failed']);
  expect(await gauges.read('svc.reconciliation.failed')).toMatchObject([{ value: 1 }]);
  otherServicesPage = { digests: [] };
  advanceHours(24);
  await runAll();
  expect((await readRuns()).slice(1)).toEqual([
    { day: '2026-03-01', night: '2026-03-02', state: 'done' },
    { day: '2026-02-28', night: '2026-03-02', state: 'done' },
  ]);
});

test('only one replica can lease a run; after a crash another replica restarts the run, and the result of the first replica is ignored', async () => {
  await runs.request(processor.dataSource.manager, { day: '2026-03-01', merchantId: undefined });
  const firstLease = (await runs.lease())!;
  expect(await runs.lease()).toBeUndefined();
  processor.clock.advance(59_999);
  await runs.renew(firstLease);
  processor.clock.advance(60_000);
  const secondLease = (await runs.lease())!;
  expect(secondLease).toMatchObject({ runId: firstLease.runId, starts: 2 });
  const report = { merchants: [], listedDifferences: [], differences: 7, open: 0, isWholeDay: true, pastRetention: [] };
  await expect(runs.renew(firstLease)).rejects.toThrow('taken over this reconciliation');
  await runs.finish(firstLease, processor.clock.now(), report);
  await runs.fail(firstLease, new Error('late'));
  expect(await runs.find(firstLease.runId)).toMatchObject({ state: 'running' });
  await runs.finish(secondLease, processor.clock.now(), { ...report, differences: 0 });
  expect(await runs.find(firstLease.runId)).toMatchObject({ state: 'done', result: { differences: 0 } });
});

test('a run renews its lease once every 15 seconds', async () => {
  await runs.request(processor.dataSource.manager, { day: '2026-03-01', merchantId: undefined });
  const renew = jest.spyOn(runs, 'renew');
  const renewals: number[] = [];
  jest.spyOn(processor.service.app.get(ReconcileDay), 'execute').mockImplementationOnce(async (_, __, renewLease) => {
    for (const milliseconds of [0, 14_999, 1, 0, 14_999, 1]) {
      processor.clock.advance(milliseconds);
      await renewLease();
      renewals.push(renew.mock.calls.length);
    }
    return { merchants: [], listedDifferences: [], differences: 0, open: 0, isWholeDay: true, pastRetention: [] };
  });
  await runAll();
  expect(renewals).toEqual([0, 0, 1, 1, 1, 2]);
});

test('days of missed nights are compared in the next nightly run', async () => {
  await runAll();
  advanceHours(3 * 24);
  await runAll();
  expect((await readRuns()).map(({ day, night }) => [day, night])).toEqual([
    ['2026-02-28', '2026-03-01'],
    ['2026-03-03', '2026-03-04'],
    ['2026-03-02', '2026-03-04'],
    ['2026-03-01', '2026-03-04'],
  ]);
});

test('a day whose watermark was before its end is compared again in the next night', async () => {
  await runAll();
  const reconcileDay = processor.service.app.get(ReconcileDay);
  jest.spyOn(reconcileDay, 'findWatermark').mockResolvedValueOnce(new Date('2026-03-01T22:10:00Z'));
  advanceHours(24);
  await runAll();
  advanceHours(24);
  await runAll();
  expect((await readRuns()).slice(2).map(({ day }) => day)).toEqual(['2026-03-02', '2026-03-01']);
});

test('payments that became final after the watermark are counted as pending and not as paid', async () => {
  await processor.pay(buildPayable({ amount: 500 }));
  const range = { from: '2026-03-01T00:00:00.000Z', until: '2026-03-02T00:00:00.000Z' };
  const totals = processor.service.app.get(DayTotalsQuery);
  const finalAt = processor.clock.now();
  expect(await totals.count(range, finalAt, undefined)).toMatchObject([{ payments: 0, processed: 0, pending: 1 }]);
  const later = new Date(finalAt.getTime() + 1);
  expect(await totals.count(range, later, undefined)).toMatchObject([{ payments: 1, processed: 500, pending: 0 }]);
});

test('a replica stores and deletes no statement lines after another replica has taken over its run', async () => {
  await runs.request(processor.dataSource.manager, { day: '2026-03-01', merchantId: undefined });
  const firstLease = (await runs.lease())!;
  processor.clock.advance(60_000);
  const secondLease = (await runs.lease())!;
  const statements = processor.service.app.get(StatementRepository);
  const account = { acquirer: 'simulated', mode: 'test', accountReference: 'm', merchantId: 1001, days: [] } as const;
  const line: StatementLine = {
    ...{ kind: 'charge', idempotencyKey: 'k', acquirerReference: 'a', paymentReference: 'p', amount: 1 },
    ...{ currencyISOCode: 'ZAR', movedUTCDate: '2026-03-01T09:00:00.000Z' },
  };
  const countStatementLines = async (): Promise<number> =>
    (await processor.dataSource.query<unknown[]>('SELECT FROM statement_lines')).length;
  await statements.insertLines(firstLease, processor.clock.now(), account, [line]);
  expect(await countStatementLines()).toBe(0);
  await statements.insertLines(secondLease, processor.clock.now(), account, [line]);
  await statements.deleteLines(firstLease);
  expect(await countStatementLines()).toBe(1);
  await statements.deleteLines(secondLease);
  expect(await countStatementLines()).toBe(0);
});

test('a run fails after three replicas have crashed during it', async () => {
  await runs.request(processor.dataSource.manager, { day: '2026-03-01', merchantId: undefined });
  for (let starts = 1; starts <= 3; starts++) {
    expect(await runs.lease()).toMatchObject({ starts });
    processor.clock.advance(60_000);
  }
  expect(await runs.lease()).toBeUndefined();
  const [{ runId }] = await processor.dataSource.query<[{ runId: string }]>(
    `SELECT run_id AS "runId" FROM reconciliations`,
  );
  expect(await runs.find(runId)).toMatchObject({ state: 'failed', failure: expect.stringMatching(/Every replica/) });
});

test('a payment that other services do not have causes differences, which the metrics report after the nightly run', async () => {
  expect(await gauges.read('svc.reconciliation.age')).toEqual([]);
  await processor.pay(buildPayable());
  await processor.relay();
  advanceHours(24);
  await runAll();
  const { differences } = await processor.service.app.get(ReconciliationRepository).readLastNight();
  // The payment is missing in the books notifications, stream, retrieval and sessions.
  expect(differences).toBe(4);
  expect(await gauges.read('svc.reconciliation.differences')).toMatchObject([{ value: 4 }]);
  processor.clock.advance(90_000);
  expect(await gauges.read('svc.reconciliation.age')).toMatchObject([{ value: 90 }]);
});

test('an event that the relay has not delivered delays the watermark, so that its payment is open', async () => {
  const target = await processor.broker.subscribe({
    name: 'reader',
    types: new Set(['payment.succeeded.v1']),
    deliver: () => Promise.resolve(),
  });
  await processor.pay(buildPayable());
  processor.clock.advance(7_200_000);
  const call = httpClient(processor.service, { 'x-admin-key': ADMIN_KEY });
  const reconcileToday = async (): Promise<Record<string, unknown>> => {
    const { body } = await call('POST', '/admin/v1/reconciliations', {});
    await runAll();
    return (await call('GET', `/admin/v1/reconciliations/${body['runId']}`)).body;
  };
  expect(await reconcileToday()).toMatchObject({
    state: 'done',
    result: { differences: 0 },
    watermark: '2026-03-01T09:59:55.000Z',
  });
  await processor.relay();
  expect(await reconcileToday()).toMatchObject({ result: { differences: 4 }, watermark: '2026-03-01T11:59:00.000Z' });
  await target.close();
});

describe('the administration API', () => {
  const call = (key = ADMIN_KEY) => httpClient(processor.service, { 'x-admin-key': key });

  test('rejects an invalid or future day, an invalid merchant id and a wrong key', async () => {
    for (const body of [
      { day: '2026-02-30' },
      { day: '2026-03-02' },
      { day: 'today' },
      { merchantId: 0 },
      { merchantId: '1' },
    ])
      expect([body, (await call()('POST', '/admin/v1/reconciliations', body)).status]).toEqual([body, 400]);
    expect((await call('wrong key')('POST', '/admin/v1/reconciliations', {})).status).toBe(401);
    expect(await readRuns()).toEqual([]);
  });

  test('returns 404 for an unknown run', async () => {
    for (const id of ['x', '019ca8d7-2d00-7000-8000-000000000000'])
      expect((await call()('GET', `/admin/v1/reconciliations/${id}`)).status).toBe(404);
  });

  test('returns the failure of a run', async () => {
    otherServicesPage = undefined;
    const { status, body } = await call()('POST', '/admin/v1/reconciliations', { day: '2026-03-01', merchantId: 1001 });
    expect(status).toBe(202);
    await runAll();
    expect((await call()('GET', `/admin/v1/reconciliations/${body['runId']}`)).body).toMatchObject({
      ...{ day: '2026-03-01', merchantId: 1001, state: 'failed', result: null, failure: expect.any(String) },
    });
  });
});
