import { Controller, Inject } from '@nestjs/common';
import {
  type EventEnvelope,
  PaymentReversedV1,
  type PaymentSnapshot,
  type RefundedPayment,
  RefundFailedV1,
  RefundSucceededV1,
} from '@svc/contracts';
import { hasNotice } from '@svc/kernel';
import { EventPattern } from '@svc/messaging';
import { NoticeRepository } from './notice.repository.js';

/**
 * Adds notices of final refunds and of automatic reversals to the stream (M6). Reversals are shown as refunds. Refunds
 * and reversals do not change the stored payments (M5). Events may be replayed, because an existing notice is not
 * inserted again.
 */
@Controller()
export class RefundsConsumer {
  constructor(@Inject(NoticeRepository) private readonly notices: NoticeRepository) {}

  @EventPattern(RefundSucceededV1, { repeatable: true })
  onSucceeded(events: EventEnvelope<RefundedPayment>[]): Promise<void> {
    return this.notices.insertNew(events);
  }

  @EventPattern(RefundFailedV1, { repeatable: true })
  onFailed(events: EventEnvelope<RefundedPayment>[]): Promise<void> {
    return this.notices.insertNew(events);
  }

  @EventPattern(PaymentReversedV1, { repeatable: true })
  onReversed(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    return this.notices.insertNew(events.filter(({ payload }) => hasNotice(payload)));
  }
}
