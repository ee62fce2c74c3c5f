import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Clock, observeMetrics } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { Acquirers } from '../acquirers/acquirers.js';
import { AcquirerJobs } from '../acquirers/availability/acquirer-jobs.js';
import { type AcquirerResponse, isChargeMissing, recoveryStep } from '../payments/attempt.js';
import { AttemptRepository, type OpenAttempt } from '../payments/attempt.repository.js';
import { SettleAttempt } from '../payments/settle-attempt.js';

const POLL_MS = 500;
const BATCH_SIZE = 50;
/** Lease of an attempt; also the delay until an unconfirmed reversal is retried. */
const LEASE_MS = 30_000;
/** A charge without an outcome after this time is reported: the first queries had no result. */
const UNRESOLVED_AGE_MS = 60_000;

/**
 * Ends attempts without an outcome: their process crashed, the response was lost or the acquirer did not respond. The
 * job queries the acquirer with the attempt's idempotency key after 2 s, 10 s, 1 min and 5 min, and reverses the
 * attempt after 15 min (P1). An attempt ends only when the acquirer responds, or when it is abandoned because it is
 * captured separately. The decision to reverse is committed in
 * the attempt's row before the reversal is requested, so that the charge cannot become a success in the meantime. A
 * declined payment is final and is not retried.
 */
@Injectable()
export class RecoverAttempts implements OnModuleInit, OnModuleDestroy, OnApplicationBootstrap, OnApplicationShutdown {
  private readonly jobs: AcquirerJobs;
  private stopObserving = (): void => undefined;

  constructor(
    @Inject(AttemptRepository) private readonly attempts: AttemptRepository,
    @Inject(SettleAttempt) private readonly settleAttempt: SettleAttempt,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.jobs = new AcquirerJobs(
      'recovery',
      POLL_MS,
      log,
      acquirers,
      async (acquirer) => (await this.runStep(acquirer)) === BATCH_SIZE,
    );
  }

  onModuleInit(): void {
    this.stopObserving = observeMetrics(['svc.payments.unresolved'], async (observe) =>
      observe('svc.payments.unresolved', await this.attempts.countUnresolved(this.clock.later(-UNRESOLVED_AGE_MS))),
    );
  }

  onModuleDestroy(): void {
    this.stopObserving();
  }

  onApplicationBootstrap(): void {
    this.jobs.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.jobs.stop();
  }

  /** Recovers all due attempts of this acquirer, at most one batch. Returns their number. */
  async runStep(acquirer: string): Promise<number> {
    const dueAttempts = await this.attempts.leaseDue(acquirer, this.clock.later(LEASE_MS), BATCH_SIZE);
    await Promise.all(dueAttempts.map((attempt) => this.recover(attempt)));
    return dueAttempts.length;
  }

  /** Queries the acquirer about one attempt, or reverses it, and records the response. */
  async recover(attempt: OpenAttempt): Promise<void> {
    const response = await this.findResponse(attempt);
    const payment = response && (await this.settleAttempt.execute(attempt, response));
    if (!payment) return;
    const { paymentReference, state } = payment;
    this.log.info({ paymentReference, state, queries: attempt.queries }, 'attempt recovered');
  }

  private async findResponse(attempt: OpenAttempt): Promise<AcquirerResponse | undefined> {
    const acquirer = this.acquirers.get(attempt.acquirer);
    const ageMs = this.clock.now().getTime() - attempt.startedAt.getTime();
    const step = recoveryStep(attempt.state, ageMs, acquirer.capturesSeparately);
    if (step === 'abandon') return { kind: 'abandoned' };
    if (step === 'reverse') return this.reverse(attempt);
    const response = await acquirer.getChargeStatus(attempt.attemptId, attempt.account);
    return isChargeMissing(response, ageMs) ? this.reverse(attempt) : response;
  }

  /**
   * Undefined, without a call to the acquirer, when the attempt has ended or another process has leased it in the
   * meantime.
   */
  private async reverse(attempt: OpenAttempt): Promise<AcquirerResponse | undefined> {
    const isReversalCommitted =
      attempt.state === 'reversing' ||
      (await this.attempts.beginReversal(undefined, attempt, this.clock.later(LEASE_MS)));
    if (!isReversalCommitted) return undefined;
    const { acquirer, attemptId, account, payment } = attempt;
    const terms = { account, chargeKey: attemptId, paymentReference: payment.paymentReference };
    return this.acquirers.get(acquirer).reverse(terms);
  }
}
