import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import type { RefundQueryResult } from '../acquirers/acquirer.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { AcquirerJobs } from '../acquirers/availability/acquirer-jobs.js';
import { isRefundMissing, REPORT_OVERDUE_MS, RESEND_LIMIT_MS, sendableMs } from './refund.js';
import { type OpenRefund, RefundRepository } from './refund.repository.js';
import { refundTerms, SendRefund } from './send-refund.js';
import { SettleRefund } from './settle-refund.js';

const POLL_MS = 500;
const BATCH_SIZE = 50;
const LEASE_MS = 30_000;

/**
 * Ends refunds without an outcome: their process crashed, the response was lost, or the acquirer has not decided yet.
 * The job queries the acquirer with the refund's idempotency key after 2 s, 10 s, 1 min, 5 min, and then every 5 min. A
 * refund ends only when the acquirer responds with an outcome. If the acquirer has not received a refund after 10 s,
 * the job resends the refund with the same key. A refund that waits for the capture of its charge is sent when the
 * acquirer has reported the capture.
 */
@Injectable()
export class RecoverRefunds implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly jobs: AcquirerJobs;

  constructor(
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(SendRefund) private readonly sendRefund: SendRefund,
    @Inject(SettleRefund) private readonly settleRefund: SettleRefund,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) log: ServiceLog,
  ) {
    this.jobs = new AcquirerJobs(
      'refund recovery',
      POLL_MS,
      log,
      acquirers,
      async (acquirer) => (await this.runStep(acquirer)) === BATCH_SIZE,
    );
  }

  onApplicationBootstrap(): void {
    this.jobs.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.jobs.stop();
  }

  /** Recovers all due refunds of this acquirer, at most one batch. Returns their number. */
  async runStep(acquirer: string): Promise<number> {
    const dueRefunds = await this.refunds.leaseDue(acquirer, this.clock.later(LEASE_MS), BATCH_SIZE);
    await Promise.all(dueRefunds.map((refund) => this.recover(refund)));
    return dueRefunds.length;
  }

  /** Starts the next run without the pause. */
  trigger(): void {
    this.jobs.trigger();
  }

  /** Queries the acquirer about one refund and records the response, or resends the refund. */
  async recover(refund: OpenRefund): Promise<void> {
    const response = await this.findResponse(refund);
    const now = this.clock.now();
    const isMissing = isRefundMissing(response, refund, now);
    if (isMissing ? this.mayRefundTwice(refund, now) : this.isReportOverdue(refund, now))
      await this.settleRefund.execute(refund, { kind: 'uncertain' });
    else if (isMissing) await this.sendRefund.execute(refund);
    else await this.settleRefund.execute(refund, response);
  }

  /** `notFound` of an acquirer that captures separately only means that no response has named the refund. */
  private mayRefundTwice(refund: OpenRefund, now: Date): boolean {
    return this.acquirers.get(refund.acquirer).capturesSeparately && sendableMs(refund, now) >= RESEND_LIMIT_MS;
  }

  /** The acquirer has received the refund, and its report is missing. */
  private isReportOverdue(refund: OpenRefund, now: Date): boolean {
    if (!this.acquirers.get(refund.acquirer).capturesSeparately) return false;
    const isReceived = refund.acquirerReference !== undefined && !refund.isUncertain;
    return isReceived && sendableMs(refund, now) >= REPORT_OVERDUE_MS;
  }

  private async findResponse(refund: OpenRefund): Promise<RefundQueryResult> {
    if (refund.capture === 'open' || refund.isUncertain) return { kind: 'pending' };
    if (refund.capture === 'failed') return findResponseWithoutCapture(refund);
    return this.acquirers.get(refund.acquirer).getRefundStatus(refundTerms(refund));
  }
}

/**
 * A refund is sent only after the capture. If the capture failed before that, nothing was sent, and there is no money to
 * give back. If it failed later, the acquirer may have received the refund, and only its report decides.
 */
function findResponseWithoutCapture({ refundId, acquirerReference, capturedAt }: OpenRefund): RefundQueryResult {
  if (acquirerReference !== undefined) return { kind: 'pending', acquirerReference };
  return capturedAt === undefined ? { kind: 'declined', acquirerReference: refundId } : { kind: 'uncertain' };
}
