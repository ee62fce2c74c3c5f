import { Controller, Inject } from '@nestjs/common';
import {
  type AnyPaymentSnapshot,
  CardKeyPublishedV1,
  type EventEnvelope,
  isHosted,
  PayableClosedV1,
  type PayableSnapshot,
  PaymentFailedV1,
  PaymentProcessingV1,
  PaymentReversedV1,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
  type PublicKeyJwk,
} from '@svc/contracts';
import { EventPattern, type RepeatableContext, upsertIfNewer } from '@svc/messaging';
import { isOfInvoice } from '../till-codes/till-invoice.js';
import { TillInvoiceRepository } from '../till-codes/till-invoice.repository.js';
import { SessionRepository } from './session.repository.js';

const REPEATABLE = { repeatable: true } as const;

/** Keeps what pages show, sessions and the invoices of tills, at what payment-processor says. Replay: each row stays at the newest version it was told of. */
@Controller()
export class SessionsConsumer {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(TillInvoiceRepository) private readonly invoices: TillInvoiceRepository,
  ) {}

  @EventPattern(PaymentProcessingV1, REPEATABLE)
  onProcessing(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  @EventPattern(PaymentVerificationRequiredV1, REPEATABLE)
  onVerificationRequired(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  /** Replay: the time of a reversal stays what it is. */
  @EventPattern(PaymentReversedV1, REPEATABLE)
  async onReversed(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    const payments = events.map((event) => event.payload);
    await this.sessions.keepReversals(payments.filter(isHosted));
    await this.invoices.keepReversals(payments.filter(isOfInvoice));
  }

  @EventPattern(PaymentSucceededV1, REPEATABLE)
  onSucceeded(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  @EventPattern(PaymentFailedV1, REPEATABLE)
  onFailed(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  @EventPattern(PayableClosedV1, { repeatable: true })
  async onClosed(events: EventEnvelope<PayableSnapshot>[], { connection }: RepeatableContext): Promise<void> {
    for (const { payload } of events) {
      await this.sessions.keepPayable(connection, payload);
      await this.invoices.keepPayable(connection, payload);
    }
  }

  @EventPattern(CardKeyPublishedV1, { repeatable: true })
  async onCardKey(
    events: EventEnvelope<{ publicJwk: PublicKeyJwk }>[],
    { connection }: RepeatableContext,
  ): Promise<void> {
    for (const { aggregateId, aggregateVersion, payload } of events) {
      await upsertIfNewer(connection, 'card_keys', { name: aggregateId }, aggregateVersion, {
        public_jwk: JSON.stringify(payload.publicJwk),
      });
    }
  }

  private async keep(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    const payments = events.map((event) => event.payload);
    await this.sessions.keepPayments(payments.filter(isHosted));
    await this.invoices.keepPayments(payments.filter(isOfInvoice));
  }
}
