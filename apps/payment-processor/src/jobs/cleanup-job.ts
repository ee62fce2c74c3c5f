import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { Acquirers } from '../acquirers/acquirers.js';
import { RotateCardKey } from '../card-data/rotate-card-key.js';
import { REVERSAL_RETRY_MS } from '../payments/attempt.js';
import { type DueReversal, ReversalRepository } from '../reversals/reversal.repository.js';
import { FinishVerification } from '../verifications/finish-verification.js';
import { VerificationRepository } from '../verifications/verification.repository.js';

/** No client waits for this job: {@link CheckPayments} serves a payer who polls. */
const POLL_MS = 2_000;
const BATCH_SIZE = 50;
/** Interval of queries to the bank about the verification of a partner's payer. */
const VERIFICATION_QUERY_INTERVAL_MS = 5_000;

/**
 * Completes what no client polls: verifications that the payer has abandoned (P1, 15 min) or left for a partner's own page,
 * and reversals of late approvals (H2), which are retried until the acquirer confirms them. Erases retired card keys (P8).
 */
@Injectable()
export class CleanupJob implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(VerificationRepository) private readonly verifications: VerificationRepository,
    @Inject(FinishVerification) private readonly finishVerification: FinishVerification,
    @Inject(ReversalRepository) private readonly reversals: ReversalRepository,
    @Inject(RotateCardKey) private readonly rotateCardKey: RotateCardKey,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.job = new PeriodicJob('cleanup', POLL_MS, log, async () => (await this.runOnce()) >= BATCH_SIZE);
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Returns the size of the largest batch. */
  async runOnce(): Promise<number> {
    const expired = await this.verifications.findExpired(BATCH_SIZE);
    for (const verification of expired) await this.finishVerification.execute(verification);
    const waiting = await this.verifications.leaseDueOfPartners(
      this.clock.later(VERIFICATION_QUERY_INTERVAL_MS),
      BATCH_SIZE,
    );
    await Promise.all(waiting.map((verification) => this.finishVerification.execute(verification)));
    const due = await this.reversals.leaseDue(this.clock.later(REVERSAL_RETRY_MS), BATCH_SIZE);
    await Promise.all(due.map((reversal) => this.reverse(reversal)));
    await this.rotateCardKey.eraseRetired();
    return Math.max(expired.length, waiting.length, due.length);
  }

  private async reverse({ attemptId, acquirer, account }: DueReversal): Promise<void> {
    const { kind } = await this.acquirers.get(acquirer).reverse(attemptId, account);
    if (kind === 'unconfirmed') return;
    const reversed = await this.reversals.confirm(attemptId);
    if (reversed) this.log.warn({ paymentReference: reversed.paymentReference }, 'a late charge was reversed');
  }
}
