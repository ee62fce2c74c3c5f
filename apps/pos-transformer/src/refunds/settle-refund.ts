import { Inject, Injectable } from '@nestjs/common';
import { formatRands } from '@svc/kernel';
import type { MerchantRefund } from '@svc/sdk';
import { AlertRepository } from '../platform/alert.repository.js';
import type { Tx } from '../store/store.js';
import { RefundRepository } from './refund.repository.js';

/**
 * Stores the bank's decision on a pending refund. The stream and polling may both report the decision. The second
 * report changes nothing.
 */
@Injectable()
export class SettleRefund {
  constructor(
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(AlertRepository) private readonly alerts: AlertRepository,
  ) {}

  execute(tx: Tx, siteId: number, { refundReference, status, amount }: MerchantRefund): void {
    const pending = this.refunds.findPending(refundReference, tx);
    if (!pending || status === 'pending') return;
    this.refunds.setOutcome(tx, pending.refundId, { state: status });
    if (status === 'failed')
      this.alerts.append(
        tx,
        siteId,
        '',
        `The bank declined the refund of ${formatRands(amount)} for ${pending.svcId}.`,
      );
  }
}
