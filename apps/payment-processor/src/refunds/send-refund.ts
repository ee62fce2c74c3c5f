import { Inject, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { Acquirers } from '../acquirers/acquirers.js';
import { PaymentProcessorConfig } from '../config.js';
import type { OpenRefund } from './refund.repository.js';
import { SettleRefund } from './settle-refund.js';

/**
 * Limit of concurrent refunds at the acquirer. It is lower than the limit of charges, because payers wait for charges.
 */
const MAX_CONCURRENT_REFUNDS = 20;

/**
 * Sends a committed refund to the acquirer, outside any transaction, and records the response. The refund's id is the
 * idempotency key of the call, so that retries from any process result in one refund.
 */
@Injectable()
export class SendRefund {
  private readonly limit = pLimit(MAX_CONCURRENT_REFUNDS);

  constructor(
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(SettleRefund) private readonly settleRefund: SettleRefund,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {}

  async execute(refund: OpenRefund): Promise<void> {
    const { refundId, attemptId, account, chargeReference, paymentReference, amount, currencyISOCode } = refund;
    const terms = { account, idempotencyKey: refundId, chargeKey: attemptId, chargeReference };
    const outcome = await this.limit(() =>
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
