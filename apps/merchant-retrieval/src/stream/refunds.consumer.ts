import { Controller, Inject } from '@nestjs/common';
import {
  DisputeChangedV1,
  type EventEnvelope,
  PaymentReversedV1,
  type PaymentSnapshot,
  RefundFailedV1,
  RefundSucceededV1,
} from '@svc/contracts';
import { hasNotification } from '@svc/kernel';
import { EventPattern } from '@svc/messaging';
import { NotificationRepository } from './notification.repository.js';

/**
 * Adds notifications of final refunds, of automatic reversals and of disputes to the stream (M6, M8). Reversals are shown
 * as refunds. None of them changes the stored payments (M5). Events may be replayed, because an existing notification is
 * not inserted again.
 */
@Controller()
export class RefundsConsumer {
  constructor(@Inject(NotificationRepository) private readonly notifications: NotificationRepository) {}

  @EventPattern<PaymentSnapshot>([RefundSucceededV1, RefundFailedV1, PaymentReversedV1, DisputeChangedV1], {
    idempotent: true,
  })
  onRefund(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    return this.notifications.insertNew(events.filter(({ payload }) => hasNotification(payload)));
  }
}
