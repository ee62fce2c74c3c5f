import { Inject, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import type { RefundOutcome, RefundTerms } from '../acquirers/acquirer.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { PerAcquirer } from '../acquirers/availability/per-acquirer.js';
import { PaymentProcessorConfig } from '../config.js';
import type { OpenRefund } from './refund.repository.js';
import { SettleRefund } from './settle-refund.js';

/**
 * Limit of concurrent refunds, for each acquirer and mode. It is lower than the limit of charges, because payers wait for charges.
 */
const MAX_CONCURRENT_REFUNDS = 20;

/**
 * Sends a committed refund to the acquirer, outside any transaction, and records the response. The refund's id is the
 * idempotency key of the call, so that retries from any process result in one refund.
 */
@Injectable()
export class SendRefund {
  private readonly limits = new PerAcquirer(() => pLimit(MAX_CONCURRENT_REFUNDS));

  constructor(
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(SettleRefund) private readonly settleRefund: SettleRefund,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
  ) {}

  /** A charge that is not captured yet cannot be refunded: the refund stays pending, and is sent later. */
  async execute(refund: OpenRefund): Promise<void> {
    const outcome: RefundOutcome = refund.capture === 'captured' ? await this.send(refund) : { kind: 'pending' };
    await this.settleRefund.execute(refund, outcome);
  }

  private send(refund: OpenRefund): Promise<RefundOutcome> {
    const acquirer = this.acquirers.get(refund.acquirer);
    const limit = this.limits.get(refund.acquirer, refund.account.mode);
    return limit(() => acquirer.refund(refundTerms(refund), AbortSignal.timeout(this.config.SVC_ACQUIRER_TIMEOUT_MS)));
  }
}

/** The terms of a refund for calls to the acquirer. */
export function refundTerms({ refundId, attemptId, ...refund }: OpenRefund): RefundTerms {
  const { account, chargeReference, acquirerReference, paymentReference, amount, currencyISOCode } = refund;
  const references = { idempotencyKey: refundId, chargeKey: attemptId, chargeReference, acquirerReference };
  return { account, ...references, paymentReference, amount, currencyISOCode };
}
