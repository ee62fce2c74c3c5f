import { randomUUID } from 'node:crypto';
import type { PaymentSnapshot } from '@svc/contracts';
import type { DisputeReport, DisputeReportKind } from '../src/acquirers/dispute-report.js';
import { type AppliedReport, ApplyDisputeReport } from '../src/disputes/apply-dispute-report.js';
import type { Processor } from './processor.js';

/** A dispute of a payment at the simulated bank, for reports in tests. */
export class TestDispute {
  readonly disputeReference = `dispute-${randomUUID()}`;

  constructor(
    private readonly processor: Processor,
    readonly payment: Pick<PaymentSnapshot, 'paymentReference' | 'mode'>,
  ) {}

  /** By default R 100.00, at the time of the clock. Each kind has one reference, so that repeats are recognised. */
  build(kind: DisputeReportKind, overrides: Partial<DisputeReport> = {}): DisputeReport {
    return {
      acquirer: 'simulated',
      mode: this.payment.mode,
      reportReference: `${kind}/${this.disputeReference}`,
      disputeReference: this.disputeReference,
      charge: { paymentReference: this.payment.paymentReference },
      kind,
      amount: 10_000,
      currencyISOCode: 'ZAR',
      reason: { code: '10.4', text: 'Other Fraud-Card Absent Environment' },
      respondBy: undefined,
      occurredAt: this.processor.clock.now(),
      ...overrides,
    };
  }

  report(kind: DisputeReportKind, overrides: Partial<DisputeReport> = {}): Promise<AppliedReport> {
    return this.processor.service.app.get(ApplyDisputeReport).execute(this.build(kind, overrides));
  }
}
