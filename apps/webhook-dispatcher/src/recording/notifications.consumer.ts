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
import { EventPattern, type RepeatableContext } from '@svc/messaging';
import type { EntityManager } from 'typeorm';
import { DeliveryWorker } from '../delivery/delivery-worker.js';
import { RecordNotifications } from './record-notifications.js';

/**
 * Records notifications of final payments, refunds and reversed charges, in any order of the events. Events may be
 * replayed, because a unique index (notifications_one_each) allows each recipient only one notification of a payment
 * and one notification of each refund, even if the URL has changed. A superseded notification stays superseded.
 */
@Controller()
export class NotificationsConsumer {
  constructor(
    @Inject(RecordNotifications) private readonly recordNotifications: RecordNotifications,
    @Inject(DeliveryWorker) private readonly worker: DeliveryWorker,
  ) {}

  @EventPattern(PaymentSucceededV1, { repeatable: true })
  async succeeded(events: EventEnvelope<PaymentSnapshot>[], { connection }: RepeatableContext): Promise<void> {
    await this.record(events, connection);
  }

  @EventPattern(PaymentFailedV1, { repeatable: true })
  async failed(events: EventEnvelope<PaymentSnapshot>[], { connection }: RepeatableContext): Promise<void> {
    await this.record(events, connection);
  }

  @EventPattern(PaymentReversedV1, { repeatable: true })
  async reversed(events: EventEnvelope<PaymentSnapshot>[], { connection }: RepeatableContext): Promise<void> {
    await this.record(events, connection);
  }

  @EventPattern(RefundSucceededV1, { repeatable: true })
  async refunded(events: EventEnvelope<RefundedPayment>[], { connection }: RepeatableContext): Promise<void> {
    await this.record(events, connection);
  }

  @EventPattern(RefundFailedV1, { repeatable: true })
  async refundFailed(events: EventEnvelope<RefundedPayment>[], { connection }: RepeatableContext): Promise<void> {
    await this.record(events, connection);
  }

  private async record(events: EventEnvelope<PaymentSnapshot>[], connection: EntityManager): Promise<void> {
    await this.worker.recordAndSend((slots) => this.recordNotifications.execute(connection, events, slots));
  }
}
