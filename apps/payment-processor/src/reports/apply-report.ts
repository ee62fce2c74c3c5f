import { Inject, Injectable } from '@nestjs/common';
import type {
  AcquirerDisputeReport,
  AcquirerReport,
  CaptureReport,
  ChargeReport,
  RefundReport,
  ReversalReport,
} from '../acquirers/acquirer-report.js';
import type { ChargeRoute } from '../acquirers/acquirers.js';
import type { DisputeReport } from '../acquirers/dispute-report.js';
import { type Capture, CaptureRepository } from '../captures/capture.repository.js';
import { RequestCaptures } from '../captures/request-captures.js';
import { ApplyDisputeReport } from '../disputes/apply-dispute-report.js';
import { amountToProcess } from '../payables/amount-to-process.js';
import { AttemptRepository } from '../payments/attempt.repository.js';
import { SettleAttempt } from '../payments/settle-attempt.js';
import { RecoverRefunds } from '../refunds/recover-refunds.js';
import { RefundRepository } from '../refunds/refund.repository.js';
import { SettleRefund } from '../refunds/settle-refund.js';
import { ReversalRepository } from '../reversals/reversal.repository.js';
import type { PaymentReport, ReportEffect } from './report.repository.js';

const CHANGED: ReportEffect = { effect: 'applied' };
const NOTHING: ReportEffect = { effect: 'none' };
const UNKNOWN_PAYMENT: ReportEffect = {
  effect: 'ignored',
  note: 'There is no such payment at this acquirer, mode and account.',
};

/**
 * Applies one message that an acquirer sent by itself. Messages arrive at least once and in any order. A message finds
 * its rows only with the acquirer, the mode and the account that it names.
 */
@Injectable()
export class ApplyReport {
  constructor(
    @Inject(AttemptRepository) private readonly attempts: AttemptRepository,
    @Inject(SettleAttempt) private readonly settleAttempt: SettleAttempt,
    @Inject(CaptureRepository) private readonly captures: CaptureRepository,
    @Inject(RequestCaptures) private readonly requestCaptures: RequestCaptures,
    @Inject(ReversalRepository) private readonly reversals: ReversalRepository,
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(SettleRefund) private readonly settleRefund: SettleRefund,
    @Inject(RecoverRefunds) private readonly recoverRefunds: RecoverRefunds,
    @Inject(ApplyDisputeReport) private readonly applyDisputeReport: ApplyDisputeReport,
  ) {}

  /** Returns `later` when the message cannot be applied yet. */
  async execute(report: PaymentReport): Promise<ReportEffect | 'later'> {
    switch (report.kind) {
      case 'charge':
        return this.applyCharge(report);
      case 'capture':
        return this.applyCapture(report);
      case 'reversal':
        return this.applyReversal(report);
      case 'refund':
        return this.applyRefund(report);
      case 'dispute':
        return this.applyDispute(report);
      case 'ignored':
        return { effect: report.isIncident ? 'incident' : 'ignored', note: report.reason };
    }
  }

  private async applyCharge(report: ChargeReport): Promise<ReportEffect | 'later'> {
    const attempt = await this.attempts.findByPayment(report.paymentReference, routeOf(report));
    if (!attempt) return UNKNOWN_PAYMENT;
    const { payment } = attempt;
    // The payer may return from the bank at any moment, and the charge is then the one of the next attempt. Releasing it
    // now would release the charge of a payment that succeeds.
    if (payment.state === 'verificationRequired' && report.outcome.kind === 'approved') return 'later';
    if (report.amount !== amountToProcess(payment) || report.currencyISOCode !== payment.currencyISOCode)
      return { effect: 'incident', note: 'The amount or the currency differs from the payment.' };
    const { acquirerReference } = report;
    const effect = await this.settleAttempt.record(attempt, { ...report.outcome, acquirerReference });
    if (effect === 'incident') return { effect, note: 'The report contradicts the payment.' };
    // A declined charge reserves nothing. An acquirer may never confirm the release of such a charge.
    const endsRelease = report.outcome.kind === 'declined' && (await this.reversals.confirmNotFound(attempt.attemptId));
    return effect !== 'none' || endsRelease ? CHANGED : NOTHING;
  }

  private async applyCapture(report: CaptureReport): Promise<ReportEffect | 'later'> {
    const capture = await this.captures.findByPayment(report.paymentReference, routeOf(report));
    if (!capture) {
      // The report of the charge, or the response to it, may not be recorded yet.
      const attempt = await this.attempts.findByPayment(report.paymentReference, routeOf(report));
      if (!attempt) return UNKNOWN_PAYMENT;
      if (attempt.payment.state === 'failed') {
        const happened = report.outcome === 'captured' ? 'has captured' : 'reports a failed capture of';
        return { effect: 'incident', note: `The acquirer ${happened} a payment that failed.` };
      }
      return 'later';
    }
    if (isOtherCapture(capture, report)) {
      // Another request has followed the refused one, or preceded it.
      if (report.outcome === 'refused') return NOTHING;
      return { effect: 'incident', note: 'The report is about another capture of this payment.' };
    }
    const conclusion = await this.requestCaptures.applyReport(capture, report);
    if (conclusion === 'incident')
      return { effect: 'incident', note: 'The acquirer has captured a payment that was booked back.' };
    // Also after `none`: a crash may have ended the first application between the two effects.
    if (conclusion !== 'requestAgain') {
      await this.refunds.wake(capture.paymentId);
      this.recoverRefunds.trigger();
    }
    return conclusion === 'none' ? NOTHING : CHANGED;
  }

  private async applyReversal(report: ReversalReport): Promise<ReportEffect> {
    const reversal = await this.reversals.findByPayment(report.paymentReference, routeOf(report));
    if (!reversal) return this.applyRelease(report);
    const isChanged =
      report.outcome === 'reversed'
        ? (await this.reversals.confirm(reversal.attemptId)) !== undefined
        : await this.reversals.confirmNotFound(reversal.attemptId);
    return isChanged ? CHANGED : NOTHING;
  }

  /** The reservation of a failed capture is released, or was not there. */
  private async applyRelease(report: ReversalReport): Promise<ReportEffect> {
    const capture = await this.captures.findByPayment(report.paymentReference, routeOf(report));
    if (capture?.failure !== 'rejected') {
      const happened = report.outcome === 'reversed' ? 'has released a charge' : 'has found no charge to release,';
      return { effect: 'incident', note: `The acquirer ${happened} without a request.` };
    }
    return (await this.captures.endRelease(capture.attemptId, { isReleased: true })) ? CHANGED : NOTHING;
  }

  private async applyDispute(report: AcquirerDisputeReport): Promise<ReportEffect> {
    const { dispute } = report;
    const { charge } = dispute;
    if ('paymentReference' in charge && !(await this.attempts.findByPayment(charge.paymentReference, routeOf(report))))
      return UNKNOWN_PAYMENT;
    const { kind, problems } = await this.applyDisputeReport.execute(toDisputeReport(dispute));
    if (problems.length > 0) return { effect: 'incident', note: `The report is impossible: ${problems.join(', ')}.` };
    return kind === 'record' ? CHANGED : NOTHING;
  }

  private async applyRefund(report: RefundReport): Promise<ReportEffect> {
    const refund = await this.refunds.findForReport(report.refundId, routeOf(report));
    if (!refund) return { effect: 'ignored', note: 'There is no such refund at this acquirer, mode and account.' };
    const { acquirerReference } = report;
    const conclusion = await this.settleRefund.execute(refund, { kind: report.outcome, acquirerReference });
    if (conclusion === 'incident') return { effect: 'incident', note: 'The report contradicts the refund.' };
    return conclusion === 'none' ? NOTHING : CHANGED;
  }
}

/**
 * A person has captured in the acquirer's own pages. Money that was taken completely is a capture of the payment under
 * any reference: several requests may have followed each other, of which only one is captured.
 */
function isOtherCapture({ captureReference, amount, payment }: Capture, report: CaptureReport): boolean {
  if (captureReference === undefined || captureReference === report.acquirerReference) return false;
  const isComplete = report.amount === amount && report.currencyISOCode === payment.currencyISOCode;
  return !(report.outcome === 'captured' && isComplete);
}

function toDisputeReport({
  respondByUTCDate,
  occurredUTCDate,
  ...report
}: AcquirerDisputeReport['dispute']): DisputeReport {
  const respondBy = respondByUTCDate === undefined ? undefined : new Date(respondByUTCDate);
  return { ...report, respondBy, occurredAt: new Date(occurredUTCDate) };
}

function routeOf({ acquirer, mode, accountReference }: AcquirerReport): ChargeRoute {
  return { acquirer, account: { mode, accountReference } };
}
