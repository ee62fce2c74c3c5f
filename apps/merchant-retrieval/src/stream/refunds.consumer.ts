import { Controller, Inject } from '@nestjs/common';
import {
  type AnyPaymentSnapshot,
  type EventEnvelope,
  PaymentReversedV1,
  type RefundedPayment,
  RefundFailedV1,
  RefundSucceededV1,
} from '@svc/contracts';
import { hasNotice } from '@svc/kernel';
import { EventPattern } from '@svc/messaging';
import { NoticeRepository } from './notice.repository.js';

/**
 * Sends refunds that ended, and automatic reversals as refunds, on the stream (M6). The payments themselves stay as they are
 * (M5). Replay: a notice that was written before is left out.
 */
@Controller()
export class RefundsConsumer {
  constructor(@Inject(NoticeRepository) private readonly notices: NoticeRepository) {}

  @EventPattern(RefundSucceededV1, { repeatable: true })
  onSucceeded(events: EventEnvelope<RefundedPayment>[]): Promise<void> {
    return this.notices.keep(events);
  }

  @EventPattern(RefundFailedV1, { repeatable: true })
  onFailed(events: EventEnvelope<RefundedPayment>[]): Promise<void> {
    return this.notices.keep(events);
  }

  @EventPattern(PaymentReversedV1, { repeatable: true })
  onReversed(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.notices.keep(events.filter(({ payload }) => hasNotice(payload)));
  }
}
