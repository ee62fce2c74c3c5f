import { Inject, Injectable } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import type { RefundQueryResult } from '../acquirers/acquirer.js';
import { type OpenRefund, RefundRepository } from './refund.repository.js';

/**
 * Records the acquirer's response to a refund call, or to a query about the refund. A response that contradicts the row
 * is an incident: it creates a row, a metric and a log entry.
 */
@Injectable()
export class SettleRefund {
  private readonly ended = metrics.getMeter('@svc/payment-processor').createCounter('svc.refunds.ended');
  private readonly incidents = metrics.getMeter('@svc/payment-processor').createCounter('svc.refunds.incidents');

  constructor(
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async execute(refund: OpenRefund, response: RefundQueryResult): Promise<void> {
    const { refundId, paymentReference } = refund;
    const conclusion = await this.refunds.settle(refund, response);
    if (conclusion.kind === 'end') {
      this.ended.add(1, { state: conclusion.state });
      this.log.info({ paymentReference, refundId, state: conclusion.state, queries: refund.queries }, 'refund ended');
    }
    if (conclusion.kind === 'incident') {
      this.incidents.add(1, { response: response.kind });
      this.log.error({ paymentReference, refundId, response: response.kind }, 'the acquirer contradicts the refund');
    }
  }
}
