import { Inject, Injectable } from '@nestjs/common';
import type { PaymentSnapshot } from '@svc/contracts';
import { Clock, invalidField, isUuid } from '@svc/kernel';
import { AttemptRepository } from '../payments/attempt.repository.js';
import { PaymentRepository } from '../payments/payment.repository.js';
import { FinishVerification } from '../verifications/finish-verification.js';
import { VerificationRepository } from '../verifications/verification.repository.js';
import { RecoverAttempts } from './recover-attempts.js';

/** Limits the queries to the acquirer for a payable, independently of the number of clients that poll it. */
const MIN_QUERY_INTERVAL_MS = 1_000;

/**
 * When a client polls a payable, queries the acquirer immediately for missing outcomes (P1), without waiting for the
 * recovery jobs.
 */
@Injectable()
export class CheckPayments {
  constructor(
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(AttemptRepository) private readonly attempts: AttemptRepository,
    @Inject(VerificationRepository) private readonly verifications: VerificationRepository,
    @Inject(RecoverAttempts) private readonly recoverAttempts: RecoverAttempts,
    @Inject(FinishVerification) private readonly finishVerification: FinishVerification,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute(payableId: string): Promise<PaymentSnapshot[]> {
    if (!isUuid(payableId)) throw invalidField('payableId', 'payableId must be a UUID');
    const maxLastQueryAt = this.clock.later(-MIN_QUERY_INTERVAL_MS);
    const attempts = await this.attempts.leaseUnresolved(payableId, maxLastQueryAt);
    const verifications = await this.verifications.leaseOpen(payableId, maxLastQueryAt);
    await Promise.all([
      ...attempts.map((attempt) => this.recoverAttempts.recover(attempt)),
      ...verifications.map((verification) => this.finishVerification.execute(verification)),
    ]);
    return this.payments.findAll(payableId);
  }
}
