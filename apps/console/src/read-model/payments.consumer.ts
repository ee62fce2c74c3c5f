import { Controller, Inject } from '@nestjs/common';
import {
  DisputeChangedV1,
  type DisputedPayment,
  type EventEnvelope,
  PaymentReversedV1,
  type PaymentSnapshot,
  type RefundedPayment,
} from '@svc/contracts';
import { EventPattern } from '@svc/messaging';
import { PaymentRepository } from './payment.repository.js';
import { PAYMENT_TYPES, REFUND_TYPES } from './read-model.js';
import { RequestRepository } from './request.repository.js';

/** Stores what people look at. Events may be replayed, because an older or repeated version changes nothing. */
@Controller()
export class PaymentsConsumer {
  constructor(
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(RequestRepository) private readonly requests: RequestRepository,
  ) {}

  @EventPattern(PAYMENT_TYPES, { idempotent: true })
  async onPayments(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    await this.payments.upsertPayments(events);
    await this.payments.insertVerifications(events);
    const refused = events.filter(({ payload: { source, payable } }) => isRefused(source, payable));
    await this.requests.insertEnded(
      refused.map(({ payload: { payable, modifiedUTCDate } }) => ({ ...payable, at: modifiedUTCDate })),
    );
  }

  @EventPattern(REFUND_TYPES, { idempotent: true })
  async onRefunds(events: EventEnvelope<RefundedPayment>[]): Promise<void> {
    await this.payments.upsertRefunds(events);
  }

  @EventPattern(PaymentReversedV1, { idempotent: true })
  async onReversals(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    await this.payments.insertReversals(events);
  }

  @EventPattern(DisputeChangedV1, { idempotent: true })
  async onDisputes(events: EventEnvelope<DisputedPayment>[]): Promise<void> {
    await this.payments.upsertDisputes(events);
  }
}

/** Whether an invoice, which may be a payment request, takes no more payments because too many have failed. */
function isRefused({ kind }: PaymentSnapshot['source'], { state }: PaymentSnapshot['payable']): boolean {
  return kind === 'invoice' && state === 'refused';
}
