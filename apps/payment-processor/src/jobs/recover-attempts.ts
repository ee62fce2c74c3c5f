import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { Acquirers } from '../acquirers/acquirers.js';
import { type AcquirerResponse, isChargeMissing, recoveryStep } from '../payments/attempt.js';
import { AttemptRepository, type OpenAttempt } from '../payments/attempt.repository.js';
import { SettleAttempt } from '../payments/settle-attempt.js';

const POLL_MS = 500;
const BATCH_SIZE = 50;
/** Lease of an attempt; also the delay until an unconfirmed reversal is retried. */
const LEASE_MS = 30_000;

/**
 * Ends attempts without an outcome: their process crashed, the response was lost or the acquirer did not respond. The
 * job queries the acquirer with the attempt's idempotency key after 2 s, 10 s, 1 min and 5 min, and reverses the
 * attempt after 15 min (P1). An attempt ends only when the acquirer responds. The decision to reverse is committed in
 * the attempt's row before the reversal is requested, so that the charge cannot become a success in the meantime. A
 * declined payment is final and is not retried.
 */
@Injectable()
export class RecoverAttempts implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(AttemptRepository) private readonly attempts: AttemptRepository,
    @Inject(SettleAttempt) private readonly settleAttempt: SettleAttempt,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.job = new PeriodicJob('recovery', POLL_MS, log, async () => (await this.runStep()) === BATCH_SIZE);
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Recovers all due attempts, at most one batch. Returns their number. */
  async runStep(): Promise<number> {
    const dueAttempts = await this.attempts.leaseDue(this.clock.later(LEASE_MS), BATCH_SIZE);
    await Promise.all(dueAttempts.map((attempt) => this.recover(attempt)));
    return dueAttempts.length;
  }

  /** Queries the acquirer about one attempt, or reverses it, and records the response. */
  async recover(attempt: OpenAttempt): Promise<void> {
    const response = (await this.getStatus(attempt)) ?? (await this.reverse(attempt));
    const payment = response && (await this.settleAttempt.execute(attempt, response));
    if (!payment) return;
    const { paymentReference, state } = payment;
    this.log.info({ paymentReference, state, queries: attempt.queries }, 'attempt recovered');
  }

  /** Undefined when the attempt must be reversed. */
  private async getStatus({
    attemptId,
    acquirer,
    account,
    state,
    startedAt,
  }: OpenAttempt): Promise<AcquirerResponse | undefined> {
    const ageMs = this.clock.now().getTime() - startedAt.getTime();
    if (recoveryStep(state, ageMs) === 'reverse') return undefined;
    const response = await this.acquirers.get(acquirer).getChargeStatus(attemptId, account);
    return isChargeMissing(response, ageMs) ? undefined : response;
  }

  /**
   * Undefined, without a call to the acquirer, when the attempt has ended or another process has leased it in the
   * meantime.
   */
  private async reverse(attempt: OpenAttempt): Promise<AcquirerResponse | undefined> {
    const isReversalCommitted =
      attempt.state === 'reversing' ||
      (await this.attempts.beginReversal(undefined, attempt, this.clock.later(LEASE_MS)));
    const { acquirer, attemptId, account } = attempt;
    return isReversalCommitted ? this.acquirers.get(acquirer).reverse(attemptId, account) : undefined;
  }
}
