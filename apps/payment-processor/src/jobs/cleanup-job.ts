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

/** No client waits for this job, because {@link CheckPayments} serves clients that poll. */
const POLL_MS = 2_000;
const BATCH_SIZE = 50;
/** Interval of queries to the bank about the verification of a partner's payer. */
const VERIFICATION_QUERY_INTERVAL_MS = 5_000;

/**
 * Completes operations for which possibly no client polls. The job fails verifications that the payer has abandoned
 * (P1, 15 min), finishes verifications of partners' payments, and retries reversals of late approvals (H2) until the
 * acquirer confirms them. The job also erases the private keys of retired card keys (P8).
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
    this.job = new PeriodicJob('cleanup', POLL_MS, log, async () => (await this.runStep()) >= BATCH_SIZE);
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Returns the size of the largest batch. */
  async runStep(): Promise<number> {
    const expired = await this.verifications.findExpired(BATCH_SIZE);
    for (const verification of expired) await this.finishVerification.execute(verification);
    const dueVerifications = await this.verifications.leaseDueOfPartners(
      this.clock.later(VERIFICATION_QUERY_INTERVAL_MS),
      BATCH_SIZE,
    );
    await Promise.all(dueVerifications.map((verification) => this.finishVerification.execute(verification)));
    const dueReversals = await this.reversals.leaseDue(this.clock.later(REVERSAL_RETRY_MS), BATCH_SIZE);
    await Promise.all(dueReversals.map((reversal) => this.reverse(reversal)));
    await this.rotateCardKey.eraseRetired();
    return Math.max(expired.length, dueVerifications.length, dueReversals.length);
  }

  private async reverse({ attemptId, acquirer, account }: DueReversal): Promise<void> {
    const { kind } = await this.acquirers.get(acquirer).reverse(attemptId, account);
    if (kind === 'unconfirmed') return;
    const reversed = await this.reversals.confirm(attemptId);
    if (reversed) this.log.warn({ paymentReference: reversed.paymentReference }, 'a late charge was reversed');
  }
}
