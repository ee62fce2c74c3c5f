import { Controller, Inject } from '@nestjs/common';
import type { EventEnvelope, PaymentSnapshot } from '@svc/contracts';
import { EventPattern } from '@svc/messaging';
import { NotificationRepository } from '../stream/notification.repository.js';
import { PaymentRepository } from './payment.repository.js';
import { READ_MODEL } from './read-model.js';

/**
 * Stores all final payments of merchants, both hosted payments and payments of partners (M1). Also stores their notifications
 * for the stream (M6). Events may be replayed, because an older or repeated version of a payment changes nothing, and
 * because an existing notification is not inserted again.
 */
@Controller()
export class PaymentsConsumer {
  constructor(
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(NotificationRepository) private readonly notifications: NotificationRepository,
  ) {}

  /** Stores the payment before its notification, so that a client that has received the notification can find the payment. */
  @EventPattern(READ_MODEL.types, { idempotent: true })
  async onPayment(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    await this.payments.upsertAll(
      events.map(({ payload, aggregateVersion }) => ({ payment: payload, version: aggregateVersion })),
    );
    await this.notifications.insertNew(events);
  }
}
