import { Controller, Inject } from '@nestjs/common';
import {
  type EventEnvelope,
  PaymentFailedV1,
  PaymentReversedV1,
  type PaymentSnapshot,
  PaymentSucceededV1,
  type RefundedPayment,
  RefundFailedV1,
  RefundSucceededV1,
} from '@svc/contracts';
import { EventPattern, type IdempotentContext } from '@svc/messaging';
import type { EntityManager } from 'typeorm';
import { RecordNotifications } from './record-notifications.js';

/**
 * Records notifications of final payments, refunds and reversed charges, in any order of the events. Events may be
 * replayed, because a unique index (notifications_one_each) allows each recipient only one notification of a payment
 * and one notification of each refund, even if the URL has changed. A superseded notification stays superseded.
 */
@Controller()
export class NotificationsConsumer {
  constructor(@Inject(RecordNotifications) private readonly recordNotifications: RecordNotifications) {}

  @EventPattern(PaymentSucceededV1, { idempotent: true })
  async succeeded(events: EventEnvelope<PaymentSnapshot>[], { connection }: IdempotentContext): Promise<void> {
    await this.record(events, connection);
  }

  @EventPattern(PaymentFailedV1, { idempotent: true })
  async failed(events: EventEnvelope<PaymentSnapshot>[], { connection }: IdempotentContext): Promise<void> {
    await this.record(events, connection);
  }

  @EventPattern(PaymentReversedV1, { idempotent: true })
  async reversed(events: EventEnvelope<PaymentSnapshot>[], { connection }: IdempotentContext): Promise<void> {
    await this.record(events, connection);
  }

  @EventPattern(RefundSucceededV1, { idempotent: true })
  async refunded(events: EventEnvelope<RefundedPayment>[], { connection }: IdempotentContext): Promise<void> {
    await this.record(events, connection);
  }

  @EventPattern(RefundFailedV1, { idempotent: true })
  async refundFailed(events: EventEnvelope<RefundedPayment>[], { connection }: IdempotentContext): Promise<void> {
    await this.record(events, connection);
  }

  private async record(events: EventEnvelope<PaymentSnapshot>[], connection: EntityManager): Promise<void> {
    await this.recordNotifications.execute(connection, events);
  }
}
