import { Inject, Injectable } from '@nestjs/common';
import type { ErrorCode } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { REQUEST_TIMEOUT_MS } from '@svc/messaging';
import { AcquirerPermits } from '../acquirers/acquirer-permits.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { findRefusalByState } from '../payables/payable.js';
import { ChargeAttempt } from '../payments/charge-attempt.js';
import { SettleAttempt } from '../payments/settle-attempt.js';
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
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(verification: OpenVerification): Promise<void> {
    const { payment, challengeReference, route } = verification;
    const refusal = findRefusalByState(payment.payable.state);
    // Another payment has reserved the payable. The outcome of that payment decides whether this payment can continue.
    if (refusal === 'payment.in-progress') return;
    if (verification.expiresAt <= this.clock.now()) return this.fail(verification, 'verification.abandoned');
    if (refusal) return this.fail(verification, refusal);
    const state = await this.acquirers.get(route.acquirer).getChallengeState(challengeReference, route.account);
    if (state === 'failed') return this.fail(verification, 'verification.failed');
    if (state === 'passed') await this.charge(verification);
  }

  private async fail(verification: OpenVerification, error: ErrorCode): Promise<void> {
    await this.verifications.fail(verification, error);
  }

  /** If no permit at the acquirer is free in time, nothing changes, and the next query retries the charge. */
  private async charge(verification: OpenVerification): Promise<void> {
    const { challengeReference, payment, route } = verification;
    if (!this.acquirers.get(route.acquirer).supportsMode(payment.mode)) return;
    const deadline = this.clock.later(REQUEST_TIMEOUT_MS);
    using permit = await this.permits.take(deadline);
    if (!permit) return;
    const attempt = await this.verifications.resume(verification);
    if (!attempt) return;
    const outcome = await this.chargeAttempt.execute(attempt, { challengeReference }, deadline);
    permit.release();
    await this.settleAttempt.execute(attempt, outcome);
  }
}
