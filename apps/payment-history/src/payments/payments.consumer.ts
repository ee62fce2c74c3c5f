import { Controller, Inject } from '@nestjs/common';
import {
  type EventEnvelope,
  isPartnerPayment,
  type PaymentInProgress,
  type PaymentSnapshot,
  type ShowPayment,
  ShowPaymentV1,
} from '@svc/contracts';
import { EventPattern, MessagePattern } from '@svc/messaging';
import { PaymentRepository } from './payment.repository.js';
import { READ_MODEL } from './read-model.js';

/**
 * Updates the history from the events of payment-processor. While a partner waits for a payment, payment-processor also
 * sends the payment in a command. The command arrives earlier than the event. Events may be replayed, because an older
 * or repeated version changes nothing.
 */
@Controller()
export class PaymentsConsumer {
  constructor(@Inject(PaymentRepository) private readonly payments: PaymentRepository) {}

  /** Skips payments of anonymous payers, because these belong to no organisation (P5). */
  @EventPattern<PaymentSnapshot | PaymentInProgress>(READ_MODEL.types, {
    idempotent: true,
    origin: { payer: 'partner' },
  })
  onPayment(events: EventEnvelope<PaymentSnapshot | PaymentInProgress>[]): Promise<void> {
    return this.payments.upsertAll(
      events.flatMap(({ payload, aggregateVersion }) =>
        isPartnerPayment(payload) ? [{ payment: payload, version: aggregateVersion }] : [],
      ),
    );
  }

  /** Replies after the payment was stored. When payment-processor receives the reply, the payment can be read (P5). */
  @MessagePattern(ShowPaymentV1)
  async onShowPayment({ payment, version }: ShowPayment): Promise<{ shown: true }> {
    if (isPartnerPayment(payment)) await this.payments.upsertAll([{ payment, version }]);
    return { shown: true };
  }
}
