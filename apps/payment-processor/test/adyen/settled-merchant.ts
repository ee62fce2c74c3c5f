import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningAdyenEmulator, startAdyenEmulator } from '@svc/simulated-acquirer';
import { httpClient, waitUntil } from '@svc/testing';
import { AdyenAcquirer } from '../../src/acquirers/adyen/adyen-acquirer.js';
import type { AnnouncedReport, SettlementLine } from '../../src/acquirers/settlement-line.js';
import { RequestCaptures } from '../../src/captures/request-captures.js';
import { ReconciliationBooks } from '../../src/reconciliation/books/books.js';
import { type BookDifference, compareBook } from '../../src/reconciliation/books/compare-books.js';
import { DayTotalsQuery } from '../../src/reconciliation/day-totals.query.js';
import { ApplyReports } from '../../src/reports/apply-reports.js';
import { ReportRepository } from '../../src/reports/report.repository.js';
import { ReadSettlementReports } from '../../src/settlement-reports/read-settlement-reports.js';
import { buildPayable } from '../builders.js';
import { encryptCard } from '../encrypted-card.js';
import { createRefundClient, type RefundClient } from '../merchant-key.js';
import { type Processor, startProcessor } from '../processor.js';

export const ACCOUNT = 'SvcShop';
export const DAY_MS = 86_400_000;
const HMAC_KEY = 'DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00';

const ADMIN_KEY = 'an administration key for tests 1';

interface ReportedPayment {
  readonly paymentReference: string;
}

/** Merchant 1001 with an account at the emulator of Adyen, whose webhooks arrive at the processor. */
export class SettledMerchant {
  readonly merchantId = 1001;
  readonly adminKey = ADMIN_KEY;
  private refunds!: RefundClient;

  private constructor(
    readonly processor: Processor,
    private readonly emulator: RunningAdyenEmulator,
    private readonly folder: string,
  ) {}

  static async start(): Promise<SettledMerchant> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-settled-'));
    const [webhook, report] = [
      { user: 'hook-user', password: 'hook-password-0001' },
      { user: 'report-user', password: 'report-password-01' },
    ];
    const clock: { now?: () => Date } = {};
    const emulator = await startAdyenEmulator(
      {
        SVC_ADYEN_EMULATOR_PORT: '0',
        SVC_ADYEN_EMULATOR_STORE: join(folder, 'adyen.jsonl'),
        SVC_ADYEN_EMULATOR_API_KEY: 'emulator-api-key',
        SVC_ADYEN_EMULATOR_HMAC_KEY: HMAC_KEY,
        SVC_ADYEN_EMULATOR_MERCHANT_ACCOUNTS: ACCOUNT,
        SVC_ADYEN_EMULATOR_WEBHOOK_USER: webhook.user,
        SVC_ADYEN_EMULATOR_WEBHOOK_PASSWORD: webhook.password,
        SVC_ADYEN_EMULATOR_REPORT_USER: report.user,
        SVC_ADYEN_EMULATOR_REPORT_PASSWORD: report.password,
      },
      () => clock.now?.() ?? new Date(),
    );
    const processor = await startProcessor({
      SVC_ADMIN_KEY: ADMIN_KEY,
      SVC_ADYEN_TEST_API_KEY: 'emulator-api-key',
      SVC_ADYEN_TEST_HMAC_KEYS: HMAC_KEY,
      SVC_ADYEN_TEST_WEBHOOK_USER: webhook.user,
      SVC_ADYEN_TEST_WEBHOOK_PASSWORD: webhook.password,
      SVC_ADYEN_TEST_REPORT_USER: report.user,
      SVC_ADYEN_TEST_REPORT_PASSWORD: report.password,
      SVC_ADYEN_TEST_CHECKOUT_URL: `${emulator.url}/v71`,
      SVC_ADYEN_TEST_VAULT_ACCOUNT: ACCOUNT,
    });
    clock.now = () => processor.clock.now();
    const merchant = new SettledMerchant(processor, emulator, folder);
    await processor.dataSource.query(
      `INSERT INTO merchant_accounts (merchant_id, mode, version, acquirer, account, set_at, set_by)
       VALUES ($1, 'test', 1, 'adyen', $2, $3, 'test')`,
      [merchant.merchantId, ACCOUNT, processor.clock.now()],
    );
    await processor.service.app.listen(0, '127.0.0.1');
    const url = `${await processor.service.app.getUrl()}/v1/acquirers/adyen/test/notifications`;
    await merchant.control('PUT', '/webhook-endpoint', { url });
    merchant.refunds = await createRefundClient(processor, { merchantId: merchant.merchantId });
    return merchant;
  }

  async stop(): Promise<void> {
    await this.processor.stop();
    await this.emulator.close();
    rmSync(this.folder, { recursive: true });
  }

  /** A payment that is captured. */
  async pay(amount: number): Promise<ReportedPayment> {
    const expiresAt = this.processor.clock.later(3_600_000).toISOString();
    const payable = buildPayable({ amount, expiresAt });
    const binding = { sessionId: payable.payableId, paymentNumber: 1, expiresAt };
    const encryptedCard = await encryptCard(this.processor.cardKey, binding);
    const payment = await this.processor.pay(payable, { command: { encryptedCard } });
    expect(payment.state).toBe('success');
    await this.processor.service.app.get(RequestCaptures).runStep('adyen');
    await this.deliver();
    return payment;
  }

  /** A refund that has succeeded. Returns Adyen's reference. */
  async refund({ paymentReference }: ReportedPayment, amount: number): Promise<string> {
    const response = this.refunds.refund(paymentReference, { amount });
    const reference = await waitUntil('the refund to be received', 10_000, async () => {
      const [row] = await this.processor.dataSource.query<{ reference: string | null }[]>(
        `SELECT r.acquirer_reference AS reference FROM refunds r JOIN payments p USING (payment_id)
          WHERE p.payment_reference = $1 AND r.amount = $2 AND r.ended_at IS NULL`,
        [paymentReference, amount],
      );
      return row?.reference ?? false;
    });
    await this.deliver();
    expect((await response).status).toBe(201);
    return reference;
  }

  async dispute({ paymentReference }: ReportedPayment, eventCode: string): Promise<void> {
    const [row] = await this.processor.dataSource.query<[{ reference: string }]>(
      `SELECT a.acquirer_reference AS reference FROM attempts a JOIN payments p USING (payment_id) WHERE p.payment_reference = $1`,
      [paymentReference],
    );
    await this.control('POST', `/payments/${row.reference}/disputes`, { eventCode });
    await this.deliver();
  }

  /** The money of a refund comes back, days after it had succeeded. */
  async returnRefund(acquirerReference: string): Promise<void> {
    await this.control('POST', `/refunds/${acquirerReference}/failed`);
    await this.deliver();
  }

  async failCapture({ paymentReference }: ReportedPayment): Promise<void> {
    const [row] = await this.processor.dataSource.query<[{ reference: string }]>(
      `SELECT a.acquirer_reference AS reference FROM attempts a JOIN payments p USING (payment_id) WHERE p.payment_reference = $1`,
      [paymentReference],
    );
    await this.control('POST', `/payments/${row.reference}/capture-failed`);
    await this.deliver();
  }

  /** Closes the batch. Its report is announced and not read yet. */
  async closeBatch(): Promise<void> {
    await this.control('POST', '/settlements', { merchantAccount: ACCOUNT });
    await this.deliver();
  }

  /** Closes the batch and reads its report. */
  async settle(): Promise<void> {
    await this.closeBatch();
    expect(await this.readReport()).toBe(true);
  }

  readReport(): Promise<boolean> {
    return this.processor.service.app.get(ReadSettlementReports).runStep();
  }

  /** Leases the next report as a replica that then crashes. */
  async leaseReport(): Promise<void> {
    const leaseUntil = this.processor.clock.later(900_000);
    expect(await this.processor.service.app.get(ReportRepository).leaseStatement(leaseUntil)).toBeDefined();
  }

  /** No report can be read from now on. */
  breakReports(error: Error): void {
    const acquirer = this.processor.service.app.get(AdyenAcquirer);
    jest.spyOn(acquirer, 'readSettlementReport').mockImplementation(() => {
      throw error;
    });
  }

  /** The merchant's settlement statement of a day. */
  async readStatement(day: string): Promise<unknown> {
    const url = `/business/api/v1/merchants/${this.merchantId}/settlements/${day}`;
    return (await httpClient(this.processor.service, { 'x-api-key': this.refunds.apiKey })('GET', url)).body;
  }

  /** Effect and note of each announced report. */
  async readNotes(): Promise<string[]> {
    const rows = await this.processor.dataSource.query<{ note: string }[]>(
      `SELECT coalesce(effect, 'waiting') || ': ' || note AS note FROM acquirer_reports WHERE report ->> 'kind' = 'statement'`,
    );
    return rows.map(({ note }) => note);
  }

  /** Changes the lines of all reports that are read from now on. */
  changeLines(change: (line: SettlementLine) => SettlementLine[]): void {
    const acquirer = this.processor.service.app.get(AdyenAcquirer);
    const read = acquirer.readSettlementReport.bind(acquirer);
    jest.spyOn(acquirer, 'readSettlementReport').mockImplementation(async function* (
      report: AnnouncedReport,
      signal: AbortSignal,
    ) {
      for await (const line of read(report, signal)) yield* change(line);
    });
  }

  /** Compares the books `acquirer` and `ledger` of this day. */
  async compare(day: string): Promise<BookDifference[]> {
    const watermark = this.processor.clock.now();
    const range = rangeOf(day);
    const comparisons = this.processor.service.app.get(ReconciliationBooks).buildComparisons({
      ...{ runId: '00000000-0000-7000-8000-000000000000', watermark, notifiedSites: [] },
      reversals: () => Promise.resolve('[]'),
    });
    const differences: BookDifference[] = [];
    for (const comparison of comparisons)
      if (comparison.name === 'acquirer' || comparison.name === 'ledger')
        differences.push(...(await compareBook(comparison, range, this.merchantId, true)).differences);
    return differences;
  }

  async countUnsettled(day: string): Promise<number> {
    const range = rangeOf(day);
    const now = this.processor.clock.now();
    const [totals] = await this.processor.service.app.get(DayTotalsQuery).count(range, now, this.merchantId);
    return totals?.unsettled ?? 0;
  }

  /** Debits minus credits of each account of the ledger, in cents. */
  async balances(): Promise<Record<string, number>> {
    const rows = await this.processor.dataSource.query<{ account: string; balance: number }[]>(
      `SELECT account, sum(amount)::bigint AS balance
         FROM (SELECT debit_account AS account, amount FROM transfers UNION ALL SELECT credit_account, -amount FROM transfers) AS side
        GROUP BY account`,
    );
    return Object.fromEntries(rows.map(({ account, balance }) => [account, balance]));
  }

  /** Sends the emulator's webhooks and applies them. */
  private async deliver(): Promise<void> {
    await this.control('POST', '/webhooks/deliver', {});
    await this.processor.service.app.get(ApplyReports).runStep();
  }

  private async control(method: string, path: string, body: object = {}): Promise<void> {
    const response = await fetch(`${this.emulator.url}/emulator${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }
}

function rangeOf(day: string): { from: string; until: string } {
  const from = Date.parse(day);
  return { from: new Date(from).toISOString(), until: new Date(from + DAY_MS).toISOString() };
}
