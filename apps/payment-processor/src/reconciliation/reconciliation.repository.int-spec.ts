/**
 * Tests which reconciliation runs are requested, and how runs end. The column `night` contains the date on which a
 * nightly run is requested. The runs of a night compare the previous day, and earlier days that must be compared again.
 */
import { randomUUID } from 'node:crypto';
import { type Processor, startProcessor } from '../../test/processor.js';
import { ReconciledMerchant } from '../../test/reconciled-rows.js';
import type { DayReport } from './day-report.js';
import { ReconciliationRepository } from './reconciliation.repository.js';

let processor: Processor;
let runs: ReconciliationRepository;
beforeAll(async () => {
  processor = await startProcessor();
  runs = processor.service.app.get(ReconciliationRepository);
});
beforeEach(() => processor.dataSource.query(`DELETE FROM reconciliations`));
afterAll(() => processor.stop());

/** A report without differences. */
const REPORT: DayReport = {
  merchants: [],
  listedDifferences: [],
  differences: 0,
  open: 0,
  isWholeDay: true,
  pastRetention: [],
};
const ENDED_AT = '2026-03-01T01:00:00.000Z';

/** Inserts a run that was requested at this time. A run in the state `done` has no differences by default. */
function insertRun(day: string, state: string, requestedAt: string, columns: object = {}): Promise<void> {
  const result = state === 'done' ? { result: REPORT, differences: 0, open: 0, is_whole_day: true } : {};
  const ended = state === 'waiting' ? {} : { ended_at: ENDED_AT };
  return new ReconciledMerchant(processor).insert('reconciliations', {
    ...{ run_id: randomUUID(), day, state, requested_at: requestedAt, ...result, ...ended, ...columns },
  });
}

describe('requestNight', () => {
  const [EARLIER, LATER] = ['2026-02-28T01:00:00.000Z', '2026-02-28T02:00:00.000Z'];
  async function requestDays(): Promise<string[]> {
    await runs.requestNight('2026-03-01', '2026-02-28');
    const rows = await processor.dataSource.query<{ day: string }[]>(
      `SELECT day::text FROM reconciliations WHERE night = '2026-03-01' ORDER BY day DESC`,
    );
    return rows.map(({ day }) => day);
  }

  test('does not request an earlier day again if only a run for one merchant has failed', async () => {
    await insertRun('2026-02-27', 'done', EARLIER, { night: '2026-02-28' });
    await insertRun('2026-02-27', 'failed', LATER, { merchant_id: 1001 });
    expect(await requestDays()).toEqual(['2026-02-28']);
  });

  test('does not request an earlier day again if its newest run has not ended', async () => {
    await insertRun('2026-02-27', 'done', EARLIER, { night: '2026-02-28' });
    await insertRun('2026-02-27', 'waiting', LATER);
    expect(await requestDays()).toEqual(['2026-02-28']);
  });

  test('requests an earlier day again if its newest run has failed', async () => {
    await insertRun('2026-02-27', 'done', EARLIER, { night: '2026-02-28' });
    await insertRun('2026-02-27', 'failed', LATER);
    await insertRun('2026-02-26', 'failed', LATER);
    await insertRun('2026-02-26', 'done', EARLIER);
    await insertRun('2026-02-25', 'failed', EARLIER);
    await insertRun('2026-02-25', 'done', LATER);
    await insertRun('2026-02-24', 'done', LATER);
    await insertRun('2026-02-24', 'failed', EARLIER);
    expect(await requestDays()).toEqual(['2026-02-28', '2026-02-27', '2026-02-26']);
  });

  test('requests an earlier day again if its newest run found rows without an outcome, or ended before the day was over', async () => {
    await insertRun('2026-02-27', 'done', EARLIER, { night: '2026-02-28', open: 1 });
    await insertRun('2026-02-26', 'done', EARLIER, { is_whole_day: false });
    await insertRun('2026-02-25', 'done', EARLIER);
    expect(await requestDays()).toEqual(['2026-02-28', '2026-02-27', '2026-02-26']);
  });
});

describe('readLastNight', () => {
  beforeEach(async () => {
    await insertRun('2026-02-28', 'done', ENDED_AT, { night: '2026-03-01', differences: 2 });
    await insertRun('2026-02-27', 'failed', ENDED_AT, { night: '2026-03-01', ended_at: '2026-03-01T02:00:00.000Z' });
  });

  test('returns the differences, the number of failed runs and the end of the successful run', async () => {
    expect(await runs.readLastNight()).toEqual({ differences: 2, failed: 1, endedAt: new Date(ENDED_AT) });
  });

  test('returns the result of the newest run of each day, so that a repair ends the alarm', async () => {
    const [repaired, repeated] = ['2026-03-01T09:00:00.000Z', '2026-03-01T09:05:00.000Z'];
    await insertRun('2026-02-28', 'done', repaired, { ended_at: repaired });
    await insertRun('2026-02-27', 'done', repeated, { ended_at: repeated, differences: 3 });
    expect(await runs.readLastNight()).toEqual({ differences: 3, failed: 0, endedAt: new Date(repeated) });
  });

  test('ignores the runs of one merchant, and for the end also those of a part of a day', async () => {
    const later = '2026-03-01T09:00:00.000Z';
    await insertRun('2026-02-28', 'done', later, { ended_at: later, merchant_id: 4711 });
    await insertRun('2026-03-01', 'done', later, { ended_at: later, is_whole_day: false });
    expect(await runs.readLastNight()).toEqual({ differences: 2, failed: 1, endedAt: new Date(ENDED_AT) });
  });
});

describe('an ended run', () => {
  test('is neither renewed nor ended again if it was successful', async () => {
    const runId = await runs.request(processor.dataSource.manager, { day: '2026-03-01', merchantId: undefined });
    const lease = (await runs.lease())!;
    await runs.finish(lease, processor.clock.now(), REPORT);
    await expect(runs.renew(lease)).rejects.toThrow('taken over this reconciliation');
    await runs.finish(lease, processor.clock.now(), { ...REPORT, differences: 7 });
    await runs.fail(lease, new Error('late'));
    expect(await runs.find(runId)).toMatchObject({ state: 'done', result: { differences: 0 }, failure: null });
  });

  test('does not become successful if it has failed', async () => {
    const runId = await runs.request(processor.dataSource.manager, { day: '2026-03-01', merchantId: undefined });
    const lease = (await runs.lease())!;
    await runs.fail(lease, new Error('first'));
    await runs.finish(lease, processor.clock.now(), REPORT);
    expect(await runs.find(runId)).toMatchObject({ state: 'failed', result: null, failure: 'first' });
  });
});
