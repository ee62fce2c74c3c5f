import { Controller, Inject } from '@nestjs/common';
import { type AnyPaymentSnapshot, type EventEnvelope, PaymentFailedV1, PaymentSucceededV1 } from '@svc/contracts';
import { EventPattern } from '@svc/messaging';
import { PaymentRepository } from './payment.repository.js';

/** Keeps every final payment of every merchant, hosted or a partner's (M1). Replay: each payment stays at its newest version. */
@Controller()
export class PaymentsConsumer {
  constructor(@Inject(PaymentRepository) private readonly payments: PaymentRepository) {}

  @EventPattern(PaymentSucceededV1, { repeatable: true })
  onSucceeded(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  @EventPattern(PaymentFailedV1, { repeatable: true })
  onFailed(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  private keep(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.payments.keep(
      events.map(({ payload, aggregateVersion }) => ({ payment: payload, version: aggregateVersion })),
    );
  }
}
