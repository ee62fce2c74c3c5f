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

/** Handlers receive only events of partners' payments, and may receive an event repeatedly. */
const PARTNER_PAYMENTS = { idempotent: true, origin: { payer: 'partner' } } as const;

/**
 * Updates the history from the events of payment-processor. While a partner waits for a payment, payment-processor also
 * sends the payment in a command. The command arrives earlier than the event. Events may be replayed, because an older
 * or repeated version changes nothing.
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

  /** Replies after the payment was stored. When payment-processor receives the reply, the payment can be read (P5). */
  @MessagePattern(ShowPaymentV1)
  async onShowPayment({ payment, version }: ShowPayment): Promise<{ shown: true }> {
    if (isPartnerPayment(payment)) await this.payments.upsertAll([{ payment, version }]);
    return { shown: true };
  }

  /** Skips payments of anonymous payers, because these belong to no organisation (P5). */
  private upsert(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    return this.payments.upsertAll(
      events.flatMap(({ payload, aggregateVersion }) =>
        isPartnerPayment(payload) ? [{ payment: payload, version: aggregateVersion }] : [],
      ),
    );
  }
}
