import { Controller, Inject } from '@nestjs/common';
import { type AnyPaymentSnapshot, type EventEnvelope, PaymentFailedV1, PaymentSucceededV1 } from '@svc/contracts';
import { EventPattern } from '@svc/messaging';
import { NoticeRepository } from '../stream/notice.repository.js';
import { PaymentRepository } from './payment.repository.js';

/**
 * Keeps every final payment of every merchant, hosted or a partner's (M1), and the notice of it for the stream (M6).
 * Replay: each payment stays at its newest version, and a notice that was written before is left out.
 */
@Controller()
export class PaymentsConsumer {
  constructor(
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(NoticeRepository) private readonly notices: NoticeRepository,
  ) {}

  @EventPattern(PaymentSucceededV1, { repeatable: true })
  onSucceeded(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  @EventPattern(PaymentFailedV1, { repeatable: true })
  onFailed(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  /** The payment first: a reader of its notice must find it. */
  private async keep(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    await this.payments.keep(
      events.map(({ payload, aggregateVersion }) => ({ payment: payload, version: aggregateVersion })),
    );
    await this.notices.keep(events);
  }
}
