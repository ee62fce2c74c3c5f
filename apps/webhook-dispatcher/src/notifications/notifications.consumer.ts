import { Controller, Inject } from '@nestjs/common';
import { type EventEnvelope, PaymentFailedV1, type PaymentSnapshot, PaymentSucceededV1 } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { type ConsumerContext, EventPattern } from '@svc/messaging';
import { DueSignal } from '../delivery/due-signal.js';
import { recordNotifications } from './record-notifications.js';

/** Payments that became final, in whatever order they arrive. */
@Controller()
export class NotificationsConsumer {
  constructor(
    @Inject(Clock) private readonly clock: Clock,
    @Inject(DueSignal) private readonly due: DueSignal,
  ) {}

  /** Replay: a payment has one notification (unique payment_reference), and superseding twice is superseding once. */
  @EventPattern(PaymentSucceededV1)
  async succeeded(events: EventEnvelope<PaymentSnapshot>[], { tx }: ConsumerContext): Promise<void> {
    await this.record(events, tx);
  }

  /** Replay: a payment has one notification (unique payment_reference); one that was superseded stays it. */
  @EventPattern(PaymentFailedV1)
  async failed(events: EventEnvelope<PaymentSnapshot>[], { tx }: ConsumerContext): Promise<void> {
    await this.record(events, tx);
  }

  private async record(events: EventEnvelope<PaymentSnapshot>[], tx: ConsumerContext['tx']): Promise<void> {
    // Payments that no hosted session asked for have no notificationUrl; a later kind of source is not ours.
    const hosted = events.filter(({ payload }) => payload.source.kind === 'session');
    if (hosted.length === 0) return;
    await recordNotifications(tx, this.clock, hosted);
    this.due.afterCommit(tx);
  }
}
