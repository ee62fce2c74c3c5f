import { Controller, Inject } from '@nestjs/common';
import {
  type EventEnvelope,
  isPartnerPayment,
  PaymentFailedV1,
  PaymentProcessingV1,
  type PaymentSnapshot,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
  type ShowPayment,
  ShowPaymentV1,
} from '@svc/contracts';
import { EventPattern, MessagePattern } from '@svc/messaging';
import { PaymentRepository } from './payment.repository.js';

const PARTNER_PAYMENTS = { repeatable: true, origin: { payer: 'partner' } } as const;

/**
 * Updates the history from the events of payment-processor and, while a partner waits, from a command with the same content a
 * moment earlier. Replay: each payment stays at its newest version.
 */
@Controller()
export class PaymentsConsumer {
  constructor(@Inject(PaymentRepository) private readonly payments: PaymentRepository) {}

  @EventPattern(PaymentProcessingV1, PARTNER_PAYMENTS)
  onProcessing(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    return this.upsert(events);
  }

  @EventPattern(PaymentVerificationRequiredV1, PARTNER_PAYMENTS)
  onVerificationRequired(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    return this.upsert(events);
  }

  @EventPattern(PaymentSucceededV1, PARTNER_PAYMENTS)
  onSucceeded(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    return this.upsert(events);
  }

  @EventPattern(PaymentFailedV1, PARTNER_PAYMENTS)
  onFailed(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    return this.upsert(events);
  }

  /** After the reply the payment can be read (P5). */
  @MessagePattern(ShowPaymentV1)
  async onShowPayment({ payment, version }: ShowPayment): Promise<{ shown: true }> {
    if (isPartnerPayment(payment)) await this.payments.upsertAll([{ payment, version }]);
    return { shown: true };
  }

  /** Payments of anonymous payers belong to no organisation and are not in the history (P5). */
  private upsert(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    return this.payments.upsertAll(
      events.flatMap(({ payload, aggregateVersion }) =>
        isPartnerPayment(payload) ? [{ payment: payload, version: aggregateVersion }] : [],
      ),
    );
  }
}
