import { Inject, Injectable } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import type { RefundQueryResult } from '../acquirers/acquirer.js';
import { type OpenRefund, RefundRepository } from './refund.repository.js';

/**
 * Records the acquirer's answer about a refund, from any call. An answer that contradicts the row is an incident: a row, a metric
 * and a log line.
 */
@Injectable()
export class SettleRefund {
  private readonly ended = metrics.getMeter('@svc/payment-processor').createCounter('svc.refunds.ended');
  private readonly incidents = metrics.getMeter('@svc/payment-processor').createCounter('svc.refunds.incidents');

  constructor(
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async execute(refund: OpenRefund, answer: RefundQueryResult): Promise<void> {
    const { refundId, paymentReference } = refund;
    const conclusion = await this.refunds.settle(refund, answer);
    if (conclusion.kind === 'end') {
      this.ended.add(1, { state: conclusion.state });
      this.log.info({ paymentReference, refundId, state: conclusion.state, asked: refund.queries }, 'refund ended');
    }
    if (conclusion.kind === 'incident') {
      this.incidents.add(1, { answer: answer.kind });
      this.log.error({ paymentReference, refundId, answer: answer.kind }, 'the acquirer contradicts the refund');
    }
  }
}
