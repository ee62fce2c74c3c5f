/** Settlement reports for administrators and alarms, and several replicas that read them. */
import { GaugeReader, httpClient } from '@svc/testing';
import { DAY_MS, SettledMerchant } from '../../test/adyen/settled-merchant.js';
import { forge } from '../../test/books/ledger.js';
import { SettlementLineRepository } from './settlement-line.repository.js';

const RECEIVABLE = 'test:acquirer:adyen:receivable';

let merchant: SettledMerchant;
let gauges: GaugeReader;
beforeEach(async () => {
  gauges = GaugeReader.begin();
  merchant = await SettledMerchant.start();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await merchant.stop();
  gauges.end();
});

const query = <Row>(text: string) => merchant.processor.dataSource.query<Row[]>(text);

describe('administrators', () => {
  const admin = (path: string) =>
    httpClient(merchant.processor.service, { 'x-admin-key': merchant.adminKey })(
      'GET',
      `/admin/v1/settlement-reports${path}`,
    );

  test('see the announced reports with their state, and their unmatched lines', async () => {
    await merchant.pay(12_345);
    merchant.changeLines((line) => [line.kind === 'fee' ? { ...line, kind: 'unknown', feeAmount: undefined } : line]);
    await merchant.settle();
    merchant.processor.clock.advance(1_000);
    await merchant.closeBatch();
    const { body } = await admin('');
    expect(body.reports).toMatchObject([
      { name: 'settlement_detail_report_batch_2.csv', state: 'waiting', attempts: 0, unmatchedLines: 0, note: null },
      {
        acquirer: 'adyen',
        mode: 'test',
        state: 'incident',
        attempts: 1,
        unmatchedLines: 1,
        note: '3 lines, 3 new; 1 lines are not usable',
      },
    ]);
    const line = {
      batch: 1,
      lineNumber: 2,
      type: 'Fee',
      kind: 'unknown',
      netAmount: -10,
      svcId: null,
      merchantId: 1001,
    };
    const { lines } = (await admin('/unmatched')).body;
    expect(lines).toMatchObject([line]);
    // Johannesburg is two hours ahead of UTC.
    const localTime = new Date(Date.parse(lines[0].storedUTCDate) + 2 * 3_600_000).toISOString();
    expect(lines[0].storedLocalTime).toBe(`${localTime.slice(0, 10)} ${localTime.slice(11, 19)} Africa/Johannesburg`);
    expect((await admin(`/unmatched?reportId=${body.reports[1].reportId}`)).body.lines).toMatchObject([line]);
    expect((await admin(`/unmatched?reportId=${body.reports[0].reportId}`)).body.lines).toEqual([]);
    expect((await admin('/unmatched?reportId=x')).status).toBe(400);
    expect((await httpClient(merchant.processor.service)('GET', '/admin/v1/settlement-reports')).status).toBe(401);
  });

  describe('are alarmed by metrics', () => {
    const attributes = { acquirer: 'adyen', mode: 'test' };
    const expectGauge = async (name: string, value: number) =>
      expect(await gauges.read(`svc.settlement.${name}`)).toEqual([{ value, attributes }]);

    test('of a report that is not read, and of unmatched lines, for 31 days', async () => {
      await expectGauge('reports.waiting.age', 0);
      await expectGauge('lines.unmatched', 0);
      await merchant.pay(12_345);
      merchant.changeLines((line) => (line.kind === 'capture' ? [{ ...line, chargeReference: 'x' }] : [line]));
      await merchant.closeBatch();
      merchant.processor.clock.advance(60_000);
      await expectGauge('reports.waiting.age', 60);
      await merchant.readReport();
      await expectGauge('reports.waiting.age', 0);
      await expectGauge('lines.unmatched', 1);
      merchant.processor.clock.advance(31 * DAY_MS - 1);
      await expectGauge('lines.unmatched', 1);
      merchant.processor.clock.advance(1);
      await expectGauge('lines.unmatched', 0);
    });

    test('of captures after which their account has announced no report, also of a first report that never comes', async () => {
      await expectGauge('reports.age', 0);
      merchant.processor.clock.advance(1_000);
      await merchant.pay(12_345);
      merchant.processor.clock.advance(60_000);
      await expectGauge('reports.age', 60);
      await query(`UPDATE merchant_accounts SET account = 'Unreported'`);
      await merchant.closeBatch();
      await expectGauge('reports.age', 60);
      await query(`UPDATE merchant_accounts SET account = 'SvcShop'`);
      await expectGauge('reports.age', 0);
      merchant.processor.clock.advance(1_000);
      await merchant.pay(20_000);
      merchant.processor.clock.advance(5 * DAY_MS);
      await expectGauge('reports.age', 432_000);
    });

    test('not of captures before a report whose lines are not as expected, because it was announced', async () => {
      merchant.processor.clock.advance(1_000);
      await merchant.pay(12_345);
      await merchant.settle();
      await query(`UPDATE acquirer_reports SET effect = 'incident' WHERE report ->> 'kind' = 'statement'`);
      merchant.processor.clock.advance(60_000);
      await expectGauge('reports.age', 0);
    });

    test('not of captures before a report of a company account with lines of their account', async () => {
      merchant.processor.clock.advance(1_000);
      await merchant.pay(12_345);
      await merchant.settle();
      await query(
        `UPDATE acquirer_reports SET report = report || '{"accountReference": "Company"}' WHERE report ->> 'kind' = 'statement'`,
      );
      merchant.processor.clock.advance(60_000);
      await expectGauge('reports.age', 0);
      await query(`UPDATE merchant_accounts SET account = 'Unreported'`);
      await expectGauge('reports.age', 60);
    });

    test('not of captures at another acquirer, nor of another mode', async () => {
      merchant.processor.clock.advance(1_000);
      await merchant.pay(12_345);
      merchant.processor.clock.advance(60_000);
      const changes = [
        [`UPDATE transfers SET debit_account = 'test:acquirer:other:receivable' WHERE kind = 'capture'`],
        [`UPDATE transfers SET debit_account = 'test:acquirer:adyen:receivable', mode = 'live' WHERE kind = 'capture'`],
        [`UPDATE transfers SET mode = 'test', merchant_id = 2 WHERE kind = 'capture'`],
      ] as const;
      for (const statements of changes) {
        await forge(merchant.processor, ...statements);
        await expectGauge('reports.age', 0);
      }
      await forge(merchant.processor, `UPDATE transfers SET merchant_id = 1001 WHERE kind = 'capture'`);
      await expectGauge('reports.age', 60);
    });
  });

  test('find a report that could not be read for a month as an incident', async () => {
    await merchant.closeBatch();
    merchant.breakReports(new Error('no access'));
    const delays = [60_000, 300_000, 900_000, 3_600_000, 3_600_000];
    for (const delay of delays) {
      expect(await merchant.readReport()).toBe(true);
      merchant.processor.clock.advance(delay - 1);
      expect(await merchant.readReport()).toBe(false);
      merchant.processor.clock.advance(1);
    }
    expect(await merchant.readNotes()).toEqual(['waiting: no access']);
    merchant.processor.clock.advance(31 * DAY_MS);
    await merchant.readReport();
    expect(await merchant.readNotes()).toEqual(['incident: no access']);
    expect(await merchant.readReport()).toBe(false);
  });
});

describe('of two replicas', () => {
  test('only one reads a report, and another one continues when the lease has ended', async () => {
    await merchant.pay(12_345);
    await merchant.closeBatch();
    const readings = await Promise.all([1, 2, 3].map(() => merchant.readReport()));
    expect(readings.filter(Boolean)).toHaveLength(1);
    await query(
      `UPDATE acquirer_reports SET effect = NULL, next_apply_at = received_at WHERE report ->> 'kind' = 'statement'`,
    );
    await merchant.leaseReport();
    merchant.processor.clock.advance(899_999);
    expect(await merchant.readReport()).toBe(false);
    merchant.processor.clock.advance(1);
    expect(await merchant.readReport()).toBe(true);
  });

  test('both that store the same lines at the same time store and book each once', async () => {
    await merchant.pay(12_345);
    await merchant.settle();
    const before = await merchant.balances();
    const lines = merchant.processor.service.app.get(SettlementLineRepository);
    const [{ reportId, report }] = (await query<{ reportId: string; report: never }>(
      `SELECT report_id AS "reportId", report FROM acquirer_reports WHERE report ->> 'kind' = 'statement'`,
    )) as [{ reportId: string; report: never }];
    const line = {
      ...({
        merchantId: 1001,
        accountReference: 'SvcShop',
        batch: 9,
        lineNumber: 1,
        kind: 'fee',
        type: 'Fee',
      } as const),
      ...{
        paymentReference: undefined,
        chargeReference: undefined,
        refundId: undefined,
        disputeReportReference: undefined,
      },
      ...{
        acquirerReference: undefined,
        currencyISOCode: 'ZAR',
        grossAmount: undefined,
        netAmount: -10,
        feeAmount: 10,
      },
      ...{ feeParts: { commission: 0, markup: 0, schemeFees: 0, interchange: 0 }, problem: undefined },
    };
    const results = await Promise.all([1, 2, 3].map(() => lines.store({ reportId, report }, [line])));
    expect(results.map(({ stored, different }) => stored + different).toSorted()).toEqual([0, 0, 1]);
    expect(await merchant.balances()).toMatchObject({ [RECEIVABLE]: before[RECEIVABLE]! - 10 });
  });
});
