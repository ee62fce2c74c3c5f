import { Controller, Inject } from '@nestjs/common';
import {
  type AnyPaymentSnapshot,
  type EventEnvelope,
  isPartners,
  PaymentFailedV1,
  PaymentProcessingV1,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
  type ShowPayment,
  ShowPaymentV1,
} from '@svc/contracts';
import { EventPattern, MessagePattern } from '@svc/messaging';
import { PaymentRepository } from './payment.repository.js';

const OF_PARTNERS = { repeatable: true, origin: { payer: 'partner' } } as const;

/**
 * Keeps the history at what payment-processor says, in events and, where a partner waits, in a command that says the same
 * a moment earlier. Replay: each payment stays at the newest version that was told of it.
 */
@Controller()
export class PaymentsConsumer {
  constructor(@Inject(PaymentRepository) private readonly payments: PaymentRepository) {}

  @EventPattern(PaymentProcessingV1, OF_PARTNERS)
  onProcessing(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  @EventPattern(PaymentVerificationRequiredV1, OF_PARTNERS)
  onVerificationRequired(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  @EventPattern(PaymentSucceededV1, OF_PARTNERS)
  onSucceeded(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  @EventPattern(PaymentFailedV1, OF_PARTNERS)
  onFailed(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  /** The reply says that from now on the payment can be read back (P5). */
  @MessagePattern(ShowPaymentV1)
  async onShow({ payment, version }: ShowPayment): Promise<{ shown: true }> {
    if (isPartners(payment)) await this.payments.keep([{ payment, version }]);
    return { shown: true };
  }

  /** Those of anonymous payers belong to no organisation, and are in no history (P5). */
  private keep(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.payments.keep(
      events.flatMap(({ payload, aggregateVersion }) =>
        isPartners(payload) ? [{ payment: payload, version: aggregateVersion }] : [],
      ),
    );
  }
}
