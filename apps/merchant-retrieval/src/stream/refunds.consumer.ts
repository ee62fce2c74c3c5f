import { Controller, Inject } from '@nestjs/common';
import {
  type EventEnvelope,
  PaymentReversedV1,
  type PaymentSnapshot,
  type RefundedPayment,
  RefundFailedV1,
  RefundSucceededV1,
} from '@svc/contracts';
import { hasNotification } from '@svc/kernel';
import { EventPattern } from '@svc/messaging';
import { NotificationRepository } from './notification.repository.js';

/**
 * Adds notifications of final refunds and of automatic reversals to the stream (M6). Reversals are shown as refunds. Refunds
 * and reversals do not change the stored payments (M5). Events may be replayed, because an existing notification is not
 * inserted again.
 */
@Controller()
export class RefundsConsumer {
  constructor(@Inject(NotificationRepository) private readonly notifications: NotificationRepository) {}

  @EventPattern(RefundSucceededV1, { idempotent: true })
  onSucceeded(events: EventEnvelope<RefundedPayment>[]): Promise<void> {
    return this.notifications.insertNew(events);
  }

  @EventPattern(RefundFailedV1, { idempotent: true })
  onFailed(events: EventEnvelope<RefundedPayment>[]): Promise<void> {
    return this.notifications.insertNew(events);
  }

  @EventPattern(PaymentReversedV1, { idempotent: true })
  onReversed(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    return this.notifications.insertNew(events.filter(({ payload }) => hasNotification(payload)));
  }
}
