/** Checks the plans of the statements that read and match settlement lines: none reads a whole table. */
import { planOf } from '@svc/testing';
import { type Processor, startProcessor } from '../../test/processor.js';
import type { StatementReport } from '../acquirers/acquirer-report.js';
import { ReportRepository } from '../reports/report.repository.js';
import { AdminSettlementReportsQuery } from './admin-settlement-reports.query.js';
import { type OwnedLine, SettlementLineRepository } from './settlement-line.repository.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const plan = (action: () => Promise<unknown>): Promise<string> => planOf(processor.dataSource, action);
const ID = '019b3130-5d58-716d-8881-9a3ec506017f';

test('lines are matched by the ids of their movements', async () => {
  const lines = processor.service.app.get(SettlementLineRepository);
  for (const ids of [[ID], undefined]) {
    const text = await plan(() => lines.match(ids));
    expect(text).not.toContain('Seq Scan');
    for (const index of ['settlement_lines_unmatched', 'captures_pkey', 'refunds_pkey', 'dispute_reports_pkey'])
      expect(text).toContain(`using ${index} on`);
    expect(text).toContain('using settlement_lines_of_movement on settlement_lines earlier');
  }
});

test('the merchant of an account is found by the account', async () => {
  const lines = processor.service.app.get(SettlementLineRepository);
  const account = { acquirer: 'adyen', mode: 'test', accountReference: 'Shop' } as const;
  expect(await plan(() => lines.findMerchant(account))).toMatch(
    /merchant_accounts_of_account[^]*Index Cond: [^\n]*acquirer = [^\n]*mode = [^\n]*account = /,
  );
});

test('administrators and metrics read only announced reports and unmatched lines', async () => {
  const reports = processor.service.app.get(AdminSettlementReportsQuery);
  expect(await plan(() => reports.list())).toContain('Index Scan Backward using acquirer_reports_statements');
  const now = processor.clock.now();
  const counts = await plan(() => reports.countReports(['adyen'], now));
  expect(counts).not.toContain('Seq Scan');
  expect(counts).toContain('acquirer_reports_statements');
  expect(counts).toMatch(/Index Scan Backward using settlement_lines_once[^]*Index Cond: [^\n]*account = /);
  expect(counts).toMatch(/transfers_of_merchant[^]*Index Cond: [^\n]*merchant_id = [^\n]*mode = [^\n]*created_at > /);
  expect(await plan(() => reports.countUnmatched(now))).toContain('settlement_lines_unmatched');
  expect(await plan(() => reports.listUnmatched(undefined))).toContain('settlement_lines_unmatched');
});

test('old messages are deleted by their time', async () => {
  const reports = processor.service.app.get(ReportRepository);
  const text = await plan(() => reports.deleteApplied(processor.clock.now(), 50));
  expect(text).not.toContain('Seq Scan');
  expect(text).toContain('acquirer_reports_applied');
});

test('lines of a batch are compared by the keys of batches and lines', async () => {
  const lines = processor.service.app.get(SettlementLineRepository);
  const report = {
    ...({ kind: 'statement', acquirer: 'adyen', mode: 'test', accountReference: 'Shop' } as const),
    ...{ acquirerReference: 'report', url: 'https://example.test/report.csv' },
  };
  const line = {
    accountReference: 'Shop',
    batch: 1,
    lineNumber: 1,
    merchantId: 1,
    kind: 'fee',
    type: 'Fee',
    feeParts: {},
  };
  const reportId = await storeReport(report);
  const store = () => lines.store({ reportId, report }, [line as unknown as OwnedLine]);
  await store();
  const text = await plan(store);
  expect(text).not.toMatch(/Seq Scan on (?:settlement_lines|settlement_batches|acquirer_reports)/);
  for (const index of ['settlement_batches_pkey', 'settlement_lines_once']) expect(text).toContain(index);
});

async function storeReport(report: StatementReport): Promise<string> {
  await processor.service.app.get(ReportRepository).store([{ report, duplicateKey: 'report' }]);
  const [{ id }] = await processor.dataSource.query<[{ id: string }]>(`SELECT report_id AS id FROM acquirer_reports`);
  return id;
}

test('the next report is leased from the due messages', async () => {
  const reports = processor.service.app.get(ReportRepository);
  expect(await plan(() => reports.leaseStatement(processor.clock.now()))).toContain('acquirer_reports_due');
});
