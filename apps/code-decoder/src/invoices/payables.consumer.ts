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
import { InvoiceRepository } from './invoice.repository.js';

/** Keeps invoices at what payment-processor says of their payables. Replay: each stays at the newest version it was told of. */
@Controller()
export class PayablesConsumer {
  constructor(@Inject(InvoiceRepository) private readonly invoices: InvoiceRepository) {}

  @EventPattern(PaymentProcessingV1, { repeatable: true })
  onProcessing(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  @EventPattern(PaymentSucceededV1, { repeatable: true })
  onSucceeded(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  @EventPattern(PaymentFailedV1, { repeatable: true })
  onFailed(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  /** Of sessions too: their ids are those of no invoice. */
  @EventPattern(PayableClosedV1, { repeatable: true })
  onClosed(events: EventEnvelope<PayableSnapshot>[]): Promise<void> {
    return this.invoices.keepPayables(events.map(({ payload, occurredAt }) => ({ payable: payload, at: occurredAt })));
  }

  private keep(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    const payments = events.map(({ payload }) => payload).filter(({ source }) => source.kind === 'invoice');
    return this.invoices.keepPayables(
      payments.map(({ payable, modifiedUTCDate }) => ({ payable, at: modifiedUTCDate })),
    );
  }
}
