import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { Acquirers } from '../acquirers/acquirers.js';
import { isRefundMissing } from './refund.js';
import { type OpenRefund, RefundRepository } from './refund.repository.js';
import { SendRefund } from './send-refund.js';
import { SettleRefund } from './settle-refund.js';

const POLL_MS = 500;
const BATCH_SIZE = 50;
const LEASE_MS = 30_000;

/**
 * Ends refunds without an outcome: their process crashed, the response was lost, or the acquirer has not decided yet.
 * The job queries the acquirer with the refund's idempotency key after 2 s, 10 s, 1 min, 5 min, and then every 5 min. A
 * refund ends only when the acquirer responds with an outcome. If the acquirer has not received a refund after 10 s,
 * the job resends the refund with the same key.
 */
@Injectable()
export class RecoverRefunds implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(SendRefund) private readonly sendRefund: SendRefund,
    @Inject(SettleRefund) private readonly settleRefund: SettleRefund,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) log: ServiceLog,
  ) {
    this.job = new PeriodicJob('refund recovery', POLL_MS, log, async () => (await this.runStep()) === BATCH_SIZE);
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Recovers all due refunds, at most one batch. Returns their number. */
  async runStep(): Promise<number> {
    const dueRefunds = await this.refunds.leaseDue(this.clock.later(LEASE_MS), BATCH_SIZE);
    await Promise.all(dueRefunds.map((refund) => this.recover(refund)));
    return dueRefunds.length;
  }

  /** Queries the acquirer about one refund and records the response, or resends the refund. */
  async recover(refund: OpenRefund): Promise<void> {
    const ageMs = this.clock.now().getTime() - refund.createdAt.getTime();
    const response = await this.acquirers.get(refund.acquirer).getRefundStatus(refund.refundId, refund.account);
    if (isRefundMissing(response, ageMs)) await this.sendRefund.execute(refund);
    else await this.settleRefund.execute(refund, response);
  }
}
