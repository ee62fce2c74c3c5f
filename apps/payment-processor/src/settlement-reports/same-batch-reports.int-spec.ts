/**
 * Two settlement reports with the same batch, such as that of a merchant account and that of its company account: each line
 * is stored and booked once.
 */
import { SettledMerchant } from '../../test/adyen/settled-merchant.js';
import type { StatementReport } from '../acquirers/acquirer-report.js';
import { AdyenAcquirer } from '../acquirers/adyen/adyen-acquirer.js';
import type { SettlementLine } from '../acquirers/settlement-line.js';
import { ReportRepository } from '../reports/report.repository.js';
import { type OwnedLine, SettlementLineRepository } from './settlement-line.repository.js';

const COMPANY_REPORT = 'settlement_detail_report_company';

/** The three lines are in the opposite order. */
const renumber = (line: SettlementLine): SettlementLine => ({ ...line, lineNumber: 4 - line.lineNumber });

let merchant: SettledMerchant;
/** Changes the lines of the company account's report. */
let changeLine: (line: SettlementLine) => SettlementLine;
beforeEach(async () => {
  merchant = await SettledMerchant.start();
  changeLine = (line) => line;
  await merchant.pay(12_345);
  await merchant.closeBatch();
  const { app } = merchant.processor.service;
  const acquirer = app.get(AdyenAcquirer);
  const read = acquirer.readSettlementReport.bind(acquirer);
  const { report } = await readAnnouncement();
  jest.spyOn(acquirer, 'readSettlementReport').mockImplementation(async function* (announced, signal) {
    const isCompany = announced.acquirerReference === COMPANY_REPORT;
    for await (const line of read(isCompany ? report : announced, signal))
      yield isCompany ? changeLine(renumber(line)) : line;
  });
  // A report of another batch that is older and not read yet. No other report waits for it.
  const other = { ...report, acquirerReference: 'settlement_detail_report_other' };
  await app.get(ReportRepository).store([{ report: other, duplicateKey: 'other' }]);
  await query(
    `UPDATE acquirer_reports SET next_apply_at = next_apply_at + interval '1 day' WHERE duplicate_key = 'other'`,
  );
  const company = { ...report, accountReference: 'SvcCompany', acquirerReference: COMPANY_REPORT };
  merchant.processor.clock.advance(1);
  await app.get(ReportRepository).store([{ report: company, duplicateKey: 'company' }]);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await merchant.stop();
});

const query = <Row>(text: string) => merchant.processor.dataSource.query<Row[]>(text);

/** The announcement of the merchant account's report. */
async function readAnnouncement(): Promise<{ reportId: string; report: StatementReport }> {
  const [row] = await query<{ reportId: string; report: StatementReport }>(
    `SELECT report_id AS "reportId", report FROM acquirer_reports
      WHERE report ->> 'kind' = 'statement' AND duplicate_key NOT IN ('company', 'other')`,
  );
  return row!;
}
const readTypes = async (): Promise<string[]> => {
  const rows = await query<{ type: string }>(`SELECT type FROM settlement_lines ORDER BY line_number`);
  return rows.map(({ type }) => type);
};
/** Effect and note of both reports, the merchant account's first; null before a report is read. */
const readNotes = async (): Promise<(string | null)[]> => {
  const rows = await query<{ note: string | null }>(
    `SELECT coalesce(effect, 'waiting') || ': ' || note AS note FROM acquirer_reports
      WHERE report ->> 'kind' = 'statement' AND duplicate_key NOT IN ('other', 'live') ORDER BY report_id`,
  );
  return rows.map(({ note }) => note);
};

test('the report that is read first stores the lines, and the second one changes nothing', async () => {
  expect(await merchant.readReport()).toBe(true);
  const before = await merchant.balances();
  expect(await merchant.readReport()).toBe(true);
  expect(await readNotes()).toEqual(['applied: 3 lines, 3 new', 'none: 3 lines, 0 new']);
  expect(await readTypes()).toEqual(['Settled', 'Fee', 'MerchantPayout']);
  expect(await merchant.balances()).toEqual(before);
});

test('the report of the company account may be read first', async () => {
  await query(
    `UPDATE acquirer_reports SET next_apply_at = next_apply_at + interval '1 second' WHERE duplicate_key NOT IN ('company', 'other')`,
  );
  expect(await merchant.readReport()).toBe(true);
  const before = await merchant.balances();
  merchant.processor.clock.advance(1_000);
  expect(await merchant.readReport()).toBe(true);
  expect(await readTypes()).toEqual(['MerchantPayout', 'Fee', 'Settled']);
  expect(await merchant.balances()).toEqual(before);
  expect(await readNotes()).toEqual(['none: 3 lines, 0 new', 'applied: 3 lines, 3 new']);
});

test.each([
  ['amount', { grossAmount: 1 }],
  ['type', { type: 'Other' }],
  ['reference', { paymentReference: 'other' }],
])('a line of the second report with another %s is an incident, and is not stored', async (_, difference) => {
  changeLine = (line) => (line.kind === 'capture' ? { ...line, ...difference } : line);
  await merchant.readReport();
  await merchant.readReport();
  expect((await readNotes())[1]).toBe('incident: 3 lines, 0 new; 1 lines differ from the stored lines of the batch');
  expect(await readTypes()).toEqual(['Settled', 'Fee', 'MerchantPayout']);
});

test('a report waits for an older one that has begun to store the batch, and not the other way round', async () => {
  const announcement = await readAnnouncement();
  const { app } = merchant.processor.service;
  const lines = app.get(SettlementLineRepository);
  const source = app.get(AdyenAcquirer).readSettlementReport(announcement.report, AbortSignal.timeout(10_000));
  for await (const line of source) {
    await lines.store(announcement, [{ ...line, merchantId: merchant.merchantId }]);
    break;
  }
  await query(
    `UPDATE acquirer_reports SET next_apply_at = next_apply_at + interval '1 second' WHERE duplicate_key NOT IN ('company', 'other')`,
  );
  await merchant.readReport();
  expect(await readNotes()).toEqual([null, 'waiting: Another report with the same batch is not read completely yet.']);
  merchant.processor.clock.advance(1_000);
  await merchant.readReport();
  merchant.processor.clock.advance(60_000);
  await merchant.readReport();
  expect(await readNotes()).toEqual(['applied: 3 lines, 2 new', 'none: 3 lines, 0 new']);
  expect(await readTypes()).toEqual(['Settled', 'Fee', 'MerchantPayout']);
});

test('a batch of test mode and a batch of live mode with the same number are independent', async () => {
  const { app } = merchant.processor.service;
  const lines = app.get(SettlementLineRepository);
  const [announcement, reports] = [await readAnnouncement(), app.get(ReportRepository)];
  const live = { ...announcement.report, mode: 'live' } as const;
  await reports.store([{ report: live, duplicateKey: 'live' }]);
  const [{ id }] = (await query<{ id: string }>(
    `SELECT report_id AS id FROM acquirer_reports WHERE duplicate_key = 'live'`,
  )) as [{ id: string }];
  const testLines: OwnedLine[] = [];
  for await (const line of app
    .get(AdyenAcquirer)
    .readSettlementReport(announcement.report, AbortSignal.timeout(10_000)))
    testLines.push({ ...line, merchantId: merchant.merchantId });
  const liveLines = testLines.map((line) => ({ ...line, type: 'Live' }));
  await query(
    `UPDATE acquirer_reports SET next_apply_at = next_apply_at + interval '1 day' WHERE duplicate_key = 'live'`,
  );
  await lines.store(announcement, testLines.slice(0, 1));
  const liveStatement = { reportId: id, report: live };
  const unchanged = { different: 0, isReadElsewhere: false };
  expect(await lines.store(liveStatement, liveLines)).toEqual({ stored: 3, ...unchanged });
  expect(await lines.store(liveStatement, liveLines)).toEqual({ stored: 0, ...unchanged });
  await merchant.readReport();
  expect(await lines.store(announcement, testLines)).toEqual({ stored: 0, ...unchanged });
  // A line of another report must be in the batch of its own mode.
  changeLine = (line) => ({ ...line, type: 'Live' });
  await merchant.readReport();
  expect((await readNotes())[1]).toBe('incident: 3 lines, 0 new; 3 lines differ from the stored lines of the batch');
});

test('the database accepts no line of a second report', async () => {
  await merchant.readReport();
  const copy = query(
    `INSERT INTO settlement_lines (line_id, report_id, acquirer, mode, account, batch, line_number, merchant_id, type, kind, is_matched, stored_at)
     SELECT gen_random_uuid(), (SELECT report_id FROM acquirer_reports WHERE duplicate_key = 'company'), acquirer, mode, account, batch,
            line_number + 3, merchant_id, type, kind, is_matched, stored_at
       FROM settlement_lines LIMIT 1`,
  );
  await expect(copy).rejects.toThrow('settlement_lines_batch_report');
});
