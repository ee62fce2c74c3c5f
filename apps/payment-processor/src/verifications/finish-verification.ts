import { Inject, Injectable } from '@nestjs/common';
import type { ErrorCode, PayableState } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { REQUEST_TIMEOUT_MS } from '@svc/messaging';
import { Acquirer } from '../acquirers/acquirer.js';
import { AcquirerCalls } from '../acquirers/acquirer-calls.js';
import { amountToProcess } from '../payments/payment.js';
import { SettleAttempt } from '../payments/settle-attempt.js';
import { type OpenVerification, VerificationRepository } from './verification.repository.js';

/**
 * Looks whether the payer has returned from the bank's page, and goes on where he has: (1) the payable is reserved and
 * a new attempt committed, (2) the acquirer is told to charge what was verified, under the attempt's key, (3) the
 * outcome is committed. A crash after (1) leaves an attempt that the recovery job asks about, as any other.
 *
 * Whoever pays first wins: a verification passed after the payable was paid, closed or refused charges nothing.
 */
@Injectable()
export class FinishVerification {
  constructor(
    @Inject(VerificationRepository) private readonly verifications: VerificationRepository,
    @Inject(Acquirer) private readonly acquirer: Acquirer,
    @Inject(AcquirerCalls) private readonly calls: AcquirerCalls,
    @Inject(SettleAttempt) private readonly settleAttempt: SettleAttempt,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(verification: OpenVerification): Promise<void> {
    // Another payment holds the payable: whether this one can go on depends on how that one ends.
    if (verification.payment.payable.state === 'reserved') return;
    if (verification.expiresAt <= this.clock.now()) return this.fail(verification, 'verification.abandoned');
    const outdated = OUTDATED[verification.payment.payable.state];
    if (outdated) return this.fail(verification, outdated);
    const state = await this.acquirer.askChallenge(verification.challengeReference);
    if (state === 'failed') return this.fail(verification, 'verification.failed');
    if (state === 'passed') await this.charge(verification);
  }

  private async fail(verification: OpenVerification, error: ErrorCode): Promise<void> {
    await this.verifications.fail(verification, error);
  }

  private async charge(verification: OpenVerification): Promise<void> {
    const open = await this.verifications.resume(verification, this.acquirer.name);
    if (!open) return;
    const charge = {
      idempotencyKey: open.attemptId,
      paymentReference: open.payment.paymentReference,
      amount: amountToProcess(open.payment),
      currencyISOCode: open.payment.currencyISOCode,
      challengeReference: verification.challengeReference,
    };
    const deadline = this.clock.later(REQUEST_TIMEOUT_MS);
    const outcome = await this.calls.make(deadline, (signal) => this.acquirer.chargeVerified(charge, signal));
    await this.settleAttempt.execute(open, outcome);
  }
}

/** Why a payment cannot go on, where its payable is not to be had any more. */
const OUTDATED: Partial<Record<PayableState, ErrorCode>> = {
  paid: 'payable.paid',
  closed: 'payable.closed',
  refused: 'payable.refused',
};
