import { Inject, Injectable } from '@nestjs/common';
import type { ErrorCode } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { REQUEST_TIMEOUT_MS } from '@svc/messaging';
import type { Verification } from '../acquirers/acquirer.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { AcquirerPermits } from '../acquirers/availability/acquirer-permits.js';
import { findRefusalByState } from '../payables/payable.js';
import { ChargeAttempt } from '../payments/charge-attempt.js';
import { PaymentOutcomes } from '../payments/payment-outcomes.js';
import { SettleAttempt } from '../payments/settle-attempt.js';
import { RestoreGate } from '../restore-gate/restore-gate.js';
import { VelocityEnds } from '../velocity/velocity-ends.js';
import { type OpenVerification, VerificationRepository } from './verification.repository.js';

/**
 * Queries the state of a verification at the bank. After a passed verification the payable is reserved again with a new
 * attempt, and the acquirer charges with the attempt's key.
 *
 * A verification that is passed after the payable was paid, closed or refused charges nothing.
 */
@Injectable()
export class FinishVerification {
  constructor(
    @Inject(VerificationRepository) private readonly verifications: VerificationRepository,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(AcquirerPermits) private readonly permits: AcquirerPermits,
    @Inject(ChargeAttempt) private readonly chargeAttempt: ChargeAttempt,
    @Inject(SettleAttempt) private readonly settleAttempt: SettleAttempt,
    @Inject(VelocityEnds) private readonly velocityEnds: VelocityEnds,
    @Inject(RestoreGate) private readonly restoreGate: RestoreGate,
    @Inject(PaymentOutcomes) private readonly outcomes: PaymentOutcomes,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(open: OpenVerification): Promise<void> {
    const { payment, route } = open;
    const refusal = findRefusalByState(payment.payable.state);
    // Another payment has reserved the payable. The outcome of that payment decides whether this payment can continue.
    if (refusal === 'payment.in-progress') return;
    if (open.expiresAt <= this.clock.now()) return this.fail(open, 'verification.abandoned');
    if (refusal) return this.fail(open, refusal);
    // The payer has not opened our page yet, so there is no charge to verify.
    if (!open.verification) return;
    const state = await this.acquirers.get(route.acquirer).getChallengeState(open.verification, route.account);
    if (state === 'failed') return this.fail(open, 'verification.failed');
    if (state === 'passed') await this.charge(open, open.verification);
  }

  private async fail(open: OpenVerification, error: ErrorCode): Promise<void> {
    const velocity = this.velocityEnds.buildForVerification(open, open.payment.payable.state === 'paid');
    const failed = await this.verifications.fail(open, error, velocity);
    if (failed) this.outcomes.reportFinal(failed, open.route.acquirer);
    if (failed && velocity) await this.velocityEnds.committed(open, velocity);
  }

  /**
   * If no permit at the acquirer is free in time, or if its circuit is open, nothing changes, and the next query retries
   * the charge, so that the payer need not repeat the verification.
   */
  private async charge(open: OpenVerification, verification: Verification): Promise<void> {
    // The verified charge may have happened before the restore, under another key.
    if (await this.restoreGate.isClosed()) return;
    const { payment, route } = open;
    if (!this.acquirers.acceptsNew(this.acquirers.get(route.acquirer), payment.mode)) return;
    const deadline = this.clock.later(REQUEST_TIMEOUT_MS);
    using permit = await this.permits.take(route, deadline);
    if (!permit || permit.isCircuitOpen) return;
    const attempt = await this.verifications.resume(open);
    if (!attempt) return;
    const outcome = await this.chargeAttempt.execute(attempt, { verification }, deadline);
    permit.release();
    await this.settleAttempt.execute(attempt, outcome);
  }
}
