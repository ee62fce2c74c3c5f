import { Controller, Inject } from '@nestjs/common';
import {
  type EventEnvelope,
  type InvoiceCreated,
  InvoiceCreatedV1,
  type TillCodeMade,
  TillCodeMadeV1,
} from '@svc/contracts';
import { EventPattern } from '@svc/messaging';
import { KnownTillCodes } from './known-till-codes.js';

/** Keeps which codes are of tills. Replay: a code means one thing for ever, so one that is kept stays. */
@Controller()
export class TillCodesConsumer {
  constructor(@Inject(KnownTillCodes) private readonly tillCodes: KnownTillCodes) {}

  @EventPattern(InvoiceCreatedV1, { repeatable: true })
  onInvoice(events: EventEnvelope<InvoiceCreated>[]): Promise<void> {
    return this.tillCodes.keepInvoices(events.map(({ payload }) => payload));
  }

  @EventPattern(TillCodeMadeV1, { repeatable: true })
  onTill(events: EventEnvelope<TillCodeMade>[]): Promise<void> {
    return this.tillCodes.keepTills(events.map(({ payload }) => payload));
  }
}
