import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { RotateCardKey } from '../card-data/rotate-card-key.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { REVERSE_AGAIN_AFTER_MS } from '../payments/attempt.js';
import { type DueReversal, ReversalRepository } from '../reversals/reversal.repository.js';
import { FinishVerification } from '../verifications/finish-verification.js';
import { VerificationRepository } from '../verifications/verification.repository.js';

/** No client waits for it: a payer who looks at the page is answered by {@link CheckPayments}. */
const POLL_MS = 2_000;
const BATCH_MAX = 50;
/** How often the bank is asked whether the payer of a partner's payment has returned. */
const ASK_AGAIN_MS = 5_000;

/**
 * Ends what no client asks about: verifications that were abandoned (P1, 15 min) or whose payer has returned to a
 * partner's own page, and approvals that came too late (H2), which are reversed until the acquirer confirms it. Erases card
 * keys that are retired (P8).
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
    this.job = new PeriodicJob('cleanup', POLL_MS, log, async () => (await this.runOnce()) >= BATCH_MAX);
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Returns how much there was to do. */
  async runOnce(): Promise<number> {
    const expired = await this.verifications.findExpired(BATCH_MAX);
    for (const verification of expired) await this.finishVerification.execute(verification);
    const waiting = await this.verifications.claimPartners(this.clock.later(ASK_AGAIN_MS), BATCH_MAX);
    await Promise.all(waiting.map((verification) => this.finishVerification.execute(verification)));
    const due = await this.reversals.claimDue(this.clock.later(REVERSE_AGAIN_AFTER_MS), BATCH_MAX);
    await Promise.all(due.map((reversal) => this.reverse(reversal)));
    await this.rotateCardKey.eraseRetired();
    return Math.max(expired.length, waiting.length, due.length);
  }

  private async reverse({ attemptId, acquirer, account }: DueReversal): Promise<void> {
    const { kind } = await this.acquirers.get(acquirer).reverse(attemptId, account);
    if (kind === 'unconfirmed') return;
    const reversed = await this.reversals.confirm(attemptId);
    if (reversed)
      this.log.warn({ paymentReference: reversed.paymentReference }, 'a charge that came too late was reversed');
  }
}
