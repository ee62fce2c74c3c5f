import { openTransaction, waitForBlockedBackends } from '@svc/testing';
import { SeparateAcquirer } from '../../test/acquirers/separate-acquirer.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { ApplyReport } from './apply-report.js';
import { ReportRepository } from './report.repository.js';

let processor: Processor;
let acquirer: SeparateAcquirer;
let reports: ReportRepository;
beforeEach(async () => {
  processor = await startProcessor();
  acquirer = new SeparateAcquirer(processor);
  reports = processor.service.app.get(ReportRepository);
});
afterEach(() => processor.stop());

const report = {
  ...({ acquirer: 'simulated', mode: 'test', accountReference: 'a', acquirerReference: 'r' } as const),
  ...({ kind: 'ignored', reason: 'x' } as const),
};

test('messages end after 180 days: applied messages are deleted in batches, other messages and settlement reports stay', async () => {
  const statement = { ...report, kind: 'statement', url: 'https://example.test/report.csv' } as const;
  await reports.store([
    ...Array.from({ length: 51 }, (_, index) => ({ report, duplicateKey: `k${index}` })),
    { report: statement, duplicateKey: 'statement' },
  ]);
  await acquirer.applyReports();
  await acquirer.applyReports();
  const announced = await reports.leaseStatement(processor.clock.later(1));
  await reports.finish(announced!.reportId, { effect: 'applied' });
  processor.clock.advance(1);
  await reports.store([{ report, duplicateKey: 'younger' }]);
  await acquirer.applyReports();
  await processor.dataSource.query(
    `UPDATE acquirer_reports SET effect = NULL, next_apply_at = $1 WHERE duplicate_key = 'k0'`,
    [processor.clock.later(400 * 86_400_000)],
  );
  const readKeys = async (): Promise<string[]> => {
    const rows = await processor.dataSource.query<{ key: string }[]>(
      `SELECT duplicate_key AS key FROM acquirer_reports ORDER BY 1`,
    );
    return rows.map(({ key }) => key);
  };
  processor.clock.advance(180 * 86_400_000 - 1);
  await processor.runCleanup();
  expect(await readKeys()).toHaveLength(53);
  processor.clock.advance(1);
  await processor.runCleanup();
  expect(await readKeys()).toEqual(['k0', 'statement', 'younger']);
  expect(await processor.runCleanup()).toBe(0);
  processor.clock.advance(1);
  expect(await processor.runCleanup()).toBe(1);
  expect(await readKeys()).toEqual(['k0', 'statement']);
});

test('a message that arrives again is kept once, for each acquirer and mode', async () => {
  expect(await reports.store([{ report, duplicateKey: 'k' }])).toBe(1);
  expect(
    await reports.store([
      { report, duplicateKey: 'k' },
      { report, duplicateKey: 'l' },
    ]),
  ).toBe(1);
  expect(await reports.store([{ report: { ...report, mode: 'live' }, duplicateKey: 'k' }])).toBe(1);
  expect(await acquirer.applyReports()).toBe(3);
  expect(await acquirer.applyReports()).toBe(0);
});

test('a message whose application fails is retried later, and delays no other', async () => {
  const apply = jest.spyOn(processor.service.app.get(ApplyReport), 'execute').mockRejectedValueOnce(new Error('x'));
  await reports.store([
    { report, duplicateKey: 'k' },
    { report, duplicateKey: 'l' },
  ]);
  expect(await acquirer.applyReports()).toBe(2);
  expect(apply).toHaveBeenCalledTimes(2);
  expect(await acquirer.applyReports()).toBe(0);
  processor.clock.advance(1_000);
  expect(await acquirer.applyReports()).toBe(1);
  processor.clock.advance(86_400_000);
  expect(await acquirer.applyReports()).toBe(0);
});

test('only one of three concurrent jobs applies a message, and another continues when its lease has ended', async () => {
  await reports.store([{ report, duplicateKey: 'k' }]);
  const leases = await Promise.all([1, 2, 3].map(() => reports.leaseDue(processor.clock.later(30_000), 50)));
  expect(leases.map((lease) => lease.length).toSorted()).toEqual([0, 0, 1]);
  expect(await acquirer.applyReports()).toBe(0);
  processor.clock.advance(30_000);
  expect(await acquirer.applyReports()).toBe(1);
  await reports.finish(leases.flat()[0]!.reportId, { effect: 'incident' });
  expect(await processor.dataSource.query(`SELECT effect FROM acquirer_reports`)).toEqual([{ effect: 'ignored' }]);
});

test('a message that one notification contains twice is stored once', async () => {
  const [first, second] = [report, { ...report, reason: 'y' }];
  expect(
    await reports.store([
      { report: first, duplicateKey: 'k' },
      { report: second, duplicateKey: 'k' },
      { report, duplicateKey: 'l' },
    ]),
  ).toBe(2);
  expect(
    await processor.dataSource.query(
      `SELECT duplicate_key AS key, report ->> 'reason' AS reason FROM acquirer_reports ORDER BY 1`,
    ),
  ).toEqual([
    { key: 'k', reason: 'x' },
    { key: 'l', reason: 'x' },
  ]);
});

test('two callers that store the same messages in different orders cannot deadlock', async () => {
  await using other = await openTransaction(processor.dataSource);
  const insert = (key: string): Promise<unknown> =>
    other.query(
      `INSERT INTO acquirer_reports (report_id, acquirer, mode, duplicate_key, report, received_at, applications, next_apply_at)
       VALUES (gen_random_uuid(), 'simulated', 'test', $1, '{}', now(), 0, now())`,
      [key],
    );
  await insert('k');
  const stored = reports.store([
    { report, duplicateKey: 'l' },
    { report, duplicateKey: 'k' },
  ]);
  await waitForBlockedBackends(processor.dataSource, 1);
  await insert('l');
  await other.commit();
  expect(await stored).toBe(0);
});
