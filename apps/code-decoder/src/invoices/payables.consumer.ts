import { Controller, Inject } from '@nestjs/common';
import {
  type EventEnvelope,
  PayableClosedV1,
  type PayableSnapshot,
  PaymentFailedV1,
  type PaymentInProgress,
  PaymentProcessingV1,
  type PaymentSnapshot,
  PaymentSucceededV1,
} from '@svc/contracts';
import { EventPattern } from '@svc/messaging';
import { SessionCodeRepository } from '../sessions/session-code.repository.js';
import { InvoiceRepository } from './invoice.repository.js';

/**
 * Updates invoices, and the codes of sessions, from the events of payment-processor about their payables. A replay is
 * harmless: the newest version of each invoice wins, and a closed session stays closed. The event that a payment waits
 * for its verification is not consumed: the payment may still succeed, so for payers the invoice stays open as before.
 */
@Controller()
export class PayablesConsumer {
  constructor(
    @Inject(InvoiceRepository) private readonly invoices: InvoiceRepository,
    @Inject(SessionCodeRepository) private readonly sessionCodes: SessionCodeRepository,
  ) {}

  @EventPattern(PaymentProcessingV1, { idempotent: true, origin: { source: 'invoice' } })
  onProcessing(events: EventEnvelope<PaymentSnapshot | PaymentInProgress>[]): Promise<void> {
    return this.updateInvoices(events);
  }

  @EventPattern(PaymentSucceededV1, { idempotent: true })
  async onSucceeded(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    await this.updateInvoices(events);
    await this.closeSessions(events);
  }

  @EventPattern(PaymentFailedV1, { idempotent: true })
  async onFailed(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    await this.updateInvoices(events);
    await this.closeSessions(events);
  }

  /**
   * The event does not state whether the payable belongs to an invoice or a session, so both repositories get it, and
   * each repository updates only its own rows.
   */
  @EventPattern(PayableClosedV1, { idempotent: true })
  async onClosed(events: EventEnvelope<PayableSnapshot>[]): Promise<void> {
    const closed = events.map(({ payload, occurredAt }) => ({ payable: payload, at: occurredAt }));
    await this.invoices.applyPayableChanges(closed);
    await this.sessionCodes.close(closed.map(({ payable, at }) => ({ sessionId: payable.payableId, at })));
  }

  private updateInvoices(events: EventEnvelope<PaymentSnapshot | PaymentInProgress>[]): Promise<void> {
    const payments = events.map(({ payload }) => payload).filter(({ source }) => source.kind === 'invoice');
    return this.invoices.applyPayableChanges(
      payments.map(({ payable, modifiedUTCDate }) => ({ payable, at: modifiedUTCDate })),
    );
  }

  private closeSessions(events: EventEnvelope<PaymentSnapshot>[]): Promise<void> {
    const finalPayments = events
      .map(({ payload }) => payload)
      .filter(({ source, payable }) => source.kind === 'session' && ['paid', 'refused'].includes(payable.state));
    return this.sessionCodes.close(
      finalPayments.map(({ payable, modifiedUTCDate }) => ({ sessionId: payable.payableId, at: modifiedUTCDate })),
    );
  }
}
