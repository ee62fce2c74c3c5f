import { Inject, Injectable } from '@nestjs/common';
import type { AnyPaymentSnapshot } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import type { ChargeOutcome, ReversalOutcome } from '../acquirers/acquirer.js';
import { ReversalRepository } from '../reversals/reversal.repository.js';
import { endOf, nextAskAt } from './attempt.js';
import { type OpenAttempt, PaymentRepository } from './payment.repository.js';

/**
 * Records what the acquirer said of an attempt, whoever was told: the call itself, the recovery job, or somebody who
 * looked. The first of them counts. An approval that comes after another ending is money nobody asked for any more:
 * its reversal is written down before anything else, so that it is made whatever dies meanwhile (H2).
 */
@Injectable()
export class SettleAttempt {
  constructor(
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(ReversalRepository) private readonly reversals: ReversalRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** The payment as it is now, if this decided it. */
  async execute(open: OpenAttempt, outcome: ChargeOutcome | ReversalOutcome): Promise<AnyPaymentSnapshot | undefined> {
    const end = endOf(outcome);
    if (!end) {
      await this.payments.markUnknown(open.attemptId, nextAskAt(open.startedAt, open.asked, this.clock.now()));
      return undefined;
    }
    const settled = await this.payments.settle(open, end);
    if (!settled && end.state === 'approved') await this.reversals.request(open.attemptId);
    return settled;
  }
}
