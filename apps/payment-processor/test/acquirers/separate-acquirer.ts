import { randomUUID } from 'node:crypto';
import type { Acquirer, CaptureTerms, RefundTerms, ReversalTerms } from '../../src/acquirers/acquirer.js';
import type { AcquirerReport } from '../../src/acquirers/acquirer-report.js';
import { Acquirers } from '../../src/acquirers/acquirers.js';
import { RequestCaptures } from '../../src/captures/request-captures.js';
import { ApplyReports } from '../../src/reports/apply-reports.js';
import { ReportRepository } from '../../src/reports/report.repository.js';
import type { Processor } from '../processor.js';

/** The fields of a report that a test sets; the others are those of the simulated bank and its merchant 1001. */
type ReportOverrides = Partial<AcquirerReport> & { readonly kind: AcquirerReport['kind'] } & Record<string, unknown>;

/**
 * Makes the simulated bank an acquirer that captures separately and reports outcomes by itself. Its charges are real, its
 * other calls are recorded and answered as such an acquirer answers.
 */
export class SeparateAcquirer {
  readonly acquirer: Acquirer;
  readonly captures: CaptureTerms[] = [];
  readonly refunds: RefundTerms[] = [];
  readonly reversals: ReversalTerms[] = [];
  readonly capture: jest.SpiedFunction<Acquirer['capture']>;

  constructor(private readonly processor: Processor) {
    this.acquirer = processor.service.app.get(Acquirers).get('simulated');
    this.capture = jest.spyOn(this.acquirer, 'capture');
    Object.assign(this.acquirer, { capturesSeparately: true });
    this.capture.mockImplementation((terms) => {
      this.captures.push(terms);
      return Promise.resolve({ kind: 'received', acquirerReference: 'capture-1' });
    });
    this.acquirer.getChargeStatus = () => Promise.resolve({ kind: 'unknown' });
    this.acquirer.reverse = (terms) => {
      this.reversals.push(terms);
      return Promise.resolve({ kind: 'unconfirmed' });
    };
    this.acquirer.refund = (terms) => {
      this.refunds.push(terms);
      return Promise.resolve({ kind: 'pending', acquirerReference: `refund ${terms.idempotencyKey}` });
    };
    this.acquirer.getRefundStatus = ({ acquirerReference }) =>
      Promise.resolve({ kind: acquirerReference === undefined ? 'notFound' : 'pending' });
  }

  requestCaptures(): Promise<number> {
    return this.processor.service.app.get(RequestCaptures).runStep('simulated');
  }

  /** Stores a report, and applies all reports that are due. Returns the effect of this one; null when it waits. */
  async report(overrides: ReportOverrides, duplicateKey: string = randomUUID()): Promise<string | null> {
    const origin = {
      acquirer: 'simulated',
      mode: 'test',
      accountReference: 'merchant-1001',
      acquirerReference: 'capture-1',
    };
    const report = { ...origin, ...overrides } as AcquirerReport;
    await this.processor.service.app.get(ReportRepository).store([{ report, duplicateKey }]);
    await this.applyReports();
    const [row] = await this.processor.dataSource.query<[{ effect: string | null }]>(
      `SELECT effect FROM acquirer_reports WHERE duplicate_key = $1`,
      [duplicateKey],
    );
    return row.effect;
  }

  applyReports(): Promise<number> {
    return this.processor.service.app.get(ApplyReports).runStep();
  }

  /** Reports that a payment was approved, declined, captured and so on. */
  async reportPayment(
    { paymentReference }: { readonly paymentReference: string },
    overrides: ReportOverrides,
  ): Promise<string | null> {
    return this.report({ paymentReference, ...overrides });
  }
}
