import { Controller, Inject } from '@nestjs/common';
import {
  CardKeyPublishedV1,
  type EventEnvelope,
  isHostedPayment,
  PayableClosedV1,
  type PayableSnapshot,
  PaymentFailedV1,
  PaymentProcessingV1,
  PaymentReversedV1,
  type PaymentSnapshot,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
  type PublicKeyJwk,
} from '@svc/contracts';
import { EventPattern, type IdempotentContext, upsertIfNewer } from '@svc/messaging';
import { InFlightPayments } from '../payment-copies/in-flight-payments.js';
import type { PaymentCopy } from '../payment-copies/payment-copy.js';
import { isInvoicePayment } from '../till-codes/till-invoice.js';
import { TillInvoiceRepository } from '../till-codes/till-invoice.repository.js';
import { SessionRepository } from './session.repository.js';

const IDEMPOTENT = { idempotent: true } as const;

/**
 * Updates sessions and the invoices of tills from the events of payment-processor. A replay is safe: the newest version
 * of each row wins.
 */
@Controller()
export class SessionsConsumer {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(TillInvoiceRepository) private readonly invoices: TillInvoiceRepository,
    @Inject(InFlightPayments) private readonly inFlightPayments: InFlightPayments,
  ) {}

  /** A report that is kept for a pay request of this process is stored by that request, if at all. */
  @EventPattern(PaymentProcessingV1, IDEMPOTENT)
  onProcessing(events: EventEnvelope<PaymentCopy>[]): Promise<void> {
    return this.upsertPayments(events.filter(({ payload }) => !this.inFlightPayments.keepReport(payload)));
  }

  @EventPattern(PaymentVerificationRequiredV1, IDEMPOTENT)
  onVerificationRequired(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    return this.upsertPayments(events);
  }

  /**
   * A replay is safe, because the time of a reversal never changes. A failed capture is skipped, because the page
   * would show it as a late charge.
   */
  @EventPattern(PaymentReversedV1, IDEMPOTENT)
  async onReversed(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    const payments = events.map((event) => event.payload).filter(({ captureFailed }) => captureFailed !== true);
    await this.sessions.upsertReversals(payments.filter(isHostedPayment));
    await this.invoices.upsertReversals(payments.filter(isInvoicePayment));
  }

  @EventPattern(PaymentSucceededV1, IDEMPOTENT)
  onSucceeded(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    return this.upsertPayments(events);
  }

  @EventPattern(PaymentFailedV1, IDEMPOTENT)
  onFailed(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    return this.upsertPayments(events);
  }

  @EventPattern(PayableClosedV1, IDEMPOTENT)
  async onClosed(events: EventEnvelope<PayableSnapshot>[]): Promise<void> {
    for (const { payload } of events) {
      await this.sessions.updatePayable(payload);
      await this.invoices.updatePayable(payload);
    }
  }

  @EventPattern(CardKeyPublishedV1, IDEMPOTENT)
  async onCardKey(
    events: EventEnvelope<{ publicJwk: PublicKeyJwk }>[],
    { connection }: IdempotentContext,
  ): Promise<void> {
    for (const { aggregateId, aggregateVersion, payload } of events) {
      await upsertIfNewer(connection, 'card_keys', { name: aggregateId }, aggregateVersion, {
        public_jwk: JSON.stringify(payload.publicJwk),
      });
    }
  }

  private async upsertPayments(events: EventEnvelope<PaymentCopy>[]): Promise<void> {
    const payments = events.map((event) => event.payload);
    await this.sessions.upsertPayments(payments.filter(isHostedPayment));
    await this.invoices.upsertPayments(payments.filter(isInvoicePayment));
  }
}
