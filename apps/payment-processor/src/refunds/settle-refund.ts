import { Inject, Injectable } from '@nestjs/common';
import { createCounter } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import type { AcquirerRefundResponse, RefundConclusion } from './refund.js';
import { type OpenRefund, RefundRepository } from './refund.repository.js';

/**
 * Records the acquirer's response to a refund call, or to a query about the refund. A response that contradicts the row,
 * or after which no request can decide the refund, is an incident: it creates a row, a metric and a log entry.
 */
@Injectable()
export class SettleRefund {
  private readonly ended = createCounter('svc.refunds.ended');
  private readonly incidents = createCounter('svc.refunds.incidents');

  constructor(
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** Returns the effect of the response. */
  async execute(
    refund: Pick<OpenRefund, 'refundId' | 'paymentReference' | 'queries'>,
    response: AcquirerRefundResponse,
  ): Promise<RefundConclusion['kind']> {
    const { refundId } = refund;
    const { references, ...conclusion } = await this.refunds.settle(refund, response);
    if (conclusion.kind === 'end') {
      this.ended.add(1, { state: conclusion.state });
      this.log.info({ ...references, refundId, state: conclusion.state, queries: refund.queries }, 'refund ended');
    }
    if (conclusion.kind === 'return') {
      this.ended.add(1, { state: 'returned' });
      this.log.warn({ ...references, refundId }, 'the money of a refund came back');
    }
    if (conclusion.kind === 'stop') {
      this.incidents.add(1, { response: response.kind });
      this.log.error({ ...references, refundId }, 'a refund is not sent again: only a report of the acquirer ends it');
    }
    if (conclusion.kind === 'incident') {
      this.incidents.add(1, { response: response.kind });
      this.log.error({ ...references, refundId, response: response.kind }, 'the acquirer contradicts the refund');
    }
    return conclusion.kind;
  }
}
