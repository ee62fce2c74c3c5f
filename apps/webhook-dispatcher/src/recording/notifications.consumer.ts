import { Controller, Inject } from '@nestjs/common';
import {
  DisputeChangedV1,
  type DisputedPayment,
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
 * Records notifications of final payments, refunds, reversed charges and disputes, in any order of the events. Events may
 * be replayed, because the id of a notification is derived from the payment, refund or change of a dispute and from the
 * recipient: a recipient gets one notification of each, even if the URL has changed. A superseded notification stays
 * superseded.
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

  @EventPattern(DisputeChangedV1, { idempotent: true })
  async disputeChanged(events: EventEnvelope<DisputedPayment>[], { connection }: IdempotentContext): Promise<void> {
    await this.record(events, connection);
  }

  private async record(events: EventEnvelope<PaymentSnapshot>[], connection: EntityManager): Promise<void> {
    await this.recordNotifications.execute(connection, events);
  }
}
