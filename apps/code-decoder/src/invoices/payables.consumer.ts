import { Controller, Inject } from '@nestjs/common';
import {
  type AnyPaymentSnapshot,
  type EventEnvelope,
  PayableClosedV1,
  type PayableSnapshot,
  PaymentFailedV1,
  PaymentProcessingV1,
  PaymentSucceededV1,
} from '@svc/contracts';
import { EventPattern } from '@svc/messaging';
import { SessionCodeRepository } from '../sessions/session-code.repository.js';
import { InvoiceRepository } from './invoice.repository.js';

/**
 * Keeps invoices, and the codes of sessions, at what payment-processor says of their payables. Replay: each invoice stays
 * at the newest version it was told of, a session that is over stays over.
 */
@Controller()
export class PayablesConsumer {
  constructor(
    @Inject(InvoiceRepository) private readonly invoices: InvoiceRepository,
    @Inject(SessionCodeRepository) private readonly sessionCodes: SessionCodeRepository,
  ) {}

  @EventPattern(PaymentProcessingV1, { repeatable: true, origin: { source: 'invoice' } })
  onProcessing(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keepInvoices(events);
  }

  @EventPattern(PaymentSucceededV1, { repeatable: true })
  async onSucceeded(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    await this.keepInvoices(events);
    await this.keepSessions(events);
  }

  @EventPattern(PaymentFailedV1, { repeatable: true })
  async onFailed(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    await this.keepInvoices(events);
    await this.keepSessions(events);
  }

  /** It does not say of what: each half takes its own, by the ids that it knows. */
  @EventPattern(PayableClosedV1, { repeatable: true })
  async onClosed(events: EventEnvelope<PayableSnapshot>[]): Promise<void> {
    const closed = events.map(({ payload, occurredAt }) => ({ payable: payload, at: occurredAt }));
    await this.invoices.keepPayables(closed);
    await this.sessionCodes.keepClosed(closed.map(({ payable, at }) => ({ sessionId: payable.payableId, at })));
  }

  private keepInvoices(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    const payments = events.map(({ payload }) => payload).filter(({ source }) => source.kind === 'invoice');
    return this.invoices.keepPayables(
      payments.map(({ payable, modifiedUTCDate }) => ({ payable, at: modifiedUTCDate })),
    );
  }

  private keepSessions(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    const over = events
      .map(({ payload }) => payload)
      .filter(({ source, payable }) => source.kind === 'session' && ['paid', 'refused'].includes(payable.state));
    return this.sessionCodes.keepClosed(
      over.map(({ payable, modifiedUTCDate }) => ({ sessionId: payable.payableId, at: modifiedUTCDate })),
    );
  }
}
