import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, createCounter, traceableReferences } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { Acquirers } from '../acquirers/acquirers.js';
import { AcquirerJobs } from '../acquirers/availability/acquirer-jobs.js';
import { RotateCardKey } from '../card-data/rotate-card-key.js';
import { REVERSAL_RETRY_MS } from '../payments/attempt.js';
import { AttemptRepository } from '../payments/attempt.repository.js';
import { ReportRepository } from '../reports/report.repository.js';
import { type DueReversal, ReversalRepository } from '../reversals/reversal.repository.js';
import { DeleteExpiredCounters } from '../velocity/counters/delete-expired-counters.js';
import { FinishVerification } from '../verifications/finish-verification.js';
import { VerificationRepository } from '../verifications/verification.repository.js';

/** No client waits for this job, because {@link CheckPayments} serves clients that poll. */
const POLL_MS = 2_000;
const BATCH_SIZE = 50;
const REVERSAL_OVERDUE_MS = 86_400_000;
/**
 * An acquirer's message is only needed to recognise a second delivery, and for operators. Its effect is in other rows, so a
 * second delivery that comes even later changes nothing either.
 */
const REPORT_RETENTION_MS = 180 * 86_400_000;
/** Interval of queries to the bank about the verification of a partner's payer. */
const VERIFICATION_QUERY_INTERVAL_MS = 5_000;

/**
 * Completes operations for which possibly no client polls. The job fails verifications that the payer has abandoned
 * (P1, 15 min), finishes verifications of partners' payments, and retries reversals of late approvals (H2) until the
 * acquirer confirms them. The job also erases the private keys of retired card keys (P8), and deletes old messages of
 * acquirers and expired counters of the limits against card testing (P11). Steps that call an acquirer run
 * for each acquirer separately.
 */
@Injectable()
export class CleanupJob implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly reversed = createCounter('svc.reversals');
  private readonly incidents = createCounter('svc.reversals.incidents');
  private readonly job: PeriodicJob;
  private readonly acquirerJobs: AcquirerJobs;

  constructor(
    @Inject(VerificationRepository) private readonly verifications: VerificationRepository,
    @Inject(FinishVerification) private readonly finishVerification: FinishVerification,
    @Inject(AttemptRepository) private readonly attempts: AttemptRepository,
    @Inject(ReversalRepository) private readonly reversals: ReversalRepository,
    @Inject(RotateCardKey) private readonly rotateCardKey: RotateCardKey,
    @Inject(ReportRepository) private readonly reports: ReportRepository,
    @Inject(DeleteExpiredCounters) private readonly deleteExpiredCounters: DeleteExpiredCounters,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.job = new PeriodicJob('cleanup', POLL_MS, log, async () => (await this.runStep()) === BATCH_SIZE);
    this.acquirerJobs = new AcquirerJobs(
      'cleanup',
      POLL_MS,
      log,
      acquirers,
      async (acquirer) => (await this.runStepOf(acquirer)) === BATCH_SIZE,
    );
  }

  onApplicationBootstrap(): void {
    this.job.start();
    this.acquirerJobs.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.job.stop(), this.acquirerJobs.stop()]);
  }

  /**
   * Ends expired verifications, without a call to an acquirer, erases keys and deletes messages. Returns the size of the
   * larger batch.
   */
  async runStep(): Promise<number> {
    const expired = await this.verifications.findExpired(BATCH_SIZE);
    for (const verification of expired) await this.finishVerification.execute(verification);
    await this.rotateCardKey.eraseRetired();
    await this.deleteExpiredCounters.runStep();
    const deleted = await this.reports.deleteApplied(this.clock.later(-REPORT_RETENTION_MS), BATCH_SIZE);
    return Math.max(expired.length, deleted);
  }

  /** Queries due verifications, and requests due reversals, at this acquirer. Returns the size of the larger batch. */
  async runStepOf(acquirer: string): Promise<number> {
    const dueVerifications = await this.verifications.leaseDueOfPartners(
      acquirer,
      this.clock.later(VERIFICATION_QUERY_INTERVAL_MS),
      BATCH_SIZE,
    );
    await Promise.all(dueVerifications.map((verification) => this.finishVerification.execute(verification)));
    const dueReversals = await this.reversals.leaseDue(acquirer, this.clock.later(REVERSAL_RETRY_MS), BATCH_SIZE);
    await Promise.all(dueReversals.map((reversal) => this.reverse(reversal)));
    return Math.max(dueVerifications.length, dueReversals.length);
  }

  private async reverse(reversal: DueReversal): Promise<void> {
    const { attemptId, acquirer, account, paymentReference } = reversal;
    const { kind } = await this.acquirers.get(acquirer).reverse({ account, chargeKey: attemptId, paymentReference });
    if (kind === 'unconfirmed') return this.reportIfOverdue(reversal);
    const reversed = await this.reversals.confirm(attemptId);
    if (!reversed) return;
    this.reversed.add(1, { acquirer });
    this.log.warn(traceableReferences(reversed), 'a late charge was reversed');
  }

  /** A reversal that is unconfirmed for a day is an incident: an operator asks the acquirer. */
  private async reportIfOverdue({
    attemptId,
    attemptState,
    acquirer,
    requestedAt,
    paymentReference,
  }: DueReversal): Promise<void> {
    if (this.clock.now().getTime() - requestedAt.getTime() < REVERSAL_OVERDUE_MS) return;
    await this.attempts.recordIncident(undefined, { attemptId }, attemptState, { kind: 'unconfirmed' });
    this.incidents.add(1, { acquirer });
    this.log.error({ paymentReference, attemptId }, 'the acquirer has not confirmed a reversal for a day');
  }
}
