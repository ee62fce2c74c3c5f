import { Inject, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { Acquirers } from '../acquirers/acquirers.js';
import { PaymentProcessorConfig } from '../config.js';
import type { OpenRefund } from './refund.repository.js';
import { SettleRefund } from './settle-refund.js';

/** Limit of concurrent refunds at the acquirer: lower than for charges, which payers wait for. */
const MAX_CONCURRENT_REFUNDS = 20;

/**
 * Sends a refund to the acquirer, outside any transaction and only after the decision is committed, and records the answer. The
 * refund's id is the idempotency key of the call: retries from any process result in one refund.
 */
@Injectable()
export class SendRefund {
  private readonly slots = pLimit(MAX_CONCURRENT_REFUNDS);

  constructor(
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(SettleRefund) private readonly settleRefund: SettleRefund,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {}

  async execute(refund: OpenRefund): Promise<void> {
    const { refundId, attemptId, account, chargeReference, paymentReference, amount, currencyISOCode } = refund;
    const terms = { account, idempotencyKey: refundId, chargeKey: attemptId, chargeReference };
    const outcome = await this.slots(() =>
      this.acquirers
        .get(refund.acquirer)
        .refund(
          { ...terms, paymentReference, amount, currencyISOCode },
          AbortSignal.timeout(this.config.SVC_ACQUIRER_TIMEOUT_MS),
        ),
    );
    await this.settleRefund.execute(refund, outcome);
  }
}
