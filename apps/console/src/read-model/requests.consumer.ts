import { Controller, Inject } from '@nestjs/common';
import {
  type EventEnvelope,
  type InvoiceCreated,
  InvoiceCreatedV1,
  PayableClosedV1,
  type PayableSnapshot,
} from '@svc/contracts';
import { EventPattern } from '@svc/messaging';
import { RequestRepository } from './request.repository.js';

/** Stores payment requests and their ends. Events may be replayed, because a stored row never changes. */
@Controller()
export class RequestsConsumer {
  constructor(@Inject(RequestRepository) private readonly requests: RequestRepository) {}

  @EventPattern(InvoiceCreatedV1, { idempotent: true })
  onCreated(events: EventEnvelope<InvoiceCreated>[]): Promise<void> {
    return this.requests.insertRequests(events);
  }

  /** The event does not say whether the payable is a payment request. Sessions and invoices of tills are closed rarely. */
  @EventPattern(PayableClosedV1, { idempotent: true })
  onClosed(events: EventEnvelope<PayableSnapshot>[]): Promise<void> {
    return this.requests.insertEnded(events.map(({ payload, occurredAt }) => ({ ...payload, at: occurredAt })));
  }
}
