import { Controller, Inject } from '@nestjs/common';
import {
  type AnyPaymentSnapshot,
  type EventEnvelope,
  isHosted,
  PaymentFailedV1,
  PaymentSucceededV1,
} from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { type ConsumerContext, EventPattern } from '@svc/messaging';
import { DeliveryWorker } from '../delivery/delivery-worker.js';
import { recordNotifications } from './record-notifications.js';

/** Payments that became final, in whatever order they arrive. */
@Controller()
export class NotificationsConsumer {
  constructor(
    @Inject(Clock) private readonly clock: Clock,
    @Inject(DeliveryWorker) private readonly worker: DeliveryWorker,
  ) {}

  /** Replay: a payment has one notification (unique payment_reference), and superseding twice is superseding once. */
  @EventPattern(PaymentSucceededV1, { repeatable: true })
  async succeeded(events: EventEnvelope<AnyPaymentSnapshot>[], { tx }: ConsumerContext): Promise<void> {
    await this.record(events, tx);
  }

  /** Replay: a payment has one notification (unique payment_reference); one that was superseded stays it. */
  @EventPattern(PaymentFailedV1, { repeatable: true })
  async failed(events: EventEnvelope<AnyPaymentSnapshot>[], { tx }: ConsumerContext): Promise<void> {
    await this.record(events, tx);
  }

  private async record(events: EventEnvelope<AnyPaymentSnapshot>[], db: ConsumerContext['tx']): Promise<void> {
    // Those of invoices have no notificationUrl.
    const hosted = events.flatMap(({ payload, ...event }) => (isHosted(payload) ? [{ ...event, payload }] : []));
    if (hosted.length === 0) return;
    await this.worker.sendRecorded((places) => recordNotifications(db, this.clock, hosted, places));
  }
}
