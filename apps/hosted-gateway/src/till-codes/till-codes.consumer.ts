import { Controller, Inject } from '@nestjs/common';
import {
  DEFAULT_MINIMUM_AMOUNT,
  type EventEnvelope,
  type InvoiceCreated,
  InvoiceCreatedV1,
  type MerchantChanged,
  MerchantChangedV1,
  type TillCodeMade,
  TillCodeMadeV1,
} from '@svc/contracts';
import { EventPattern, type RepeatableContext, upsertIfNewer } from '@svc/messaging';
import { KnownTillCodes } from './known-till-codes.js';
import { TillInvoiceRepository } from './till-invoice.repository.js';

/** Keeps the codes of tills, their invoices, and what merchants let payers choose. */
@Controller()
export class TillCodesConsumer {
  constructor(
    @Inject(KnownTillCodes) private readonly tillCodes: KnownTillCodes,
    @Inject(TillInvoiceRepository) private readonly invoices: TillInvoiceRepository,
  ) {}

  /** Replay: an invoice that is kept stays as it is. */
  @EventPattern(InvoiceCreatedV1, { repeatable: true })
  onInvoice(events: EventEnvelope<InvoiceCreated>[]): Promise<void> {
    return this.invoices.keepInvoices(events.map(({ payload }) => payload));
  }

  /** Replay: a code means one thing for ever, so one that is kept stays. */
  @EventPattern(TillCodeMadeV1, { repeatable: true })
  onTill(events: EventEnvelope<TillCodeMade>[]): Promise<void> {
    return this.tillCodes.keepTills(events.map(({ payload }) => payload));
  }

  /** Replay: the highest version of each merchant stays. */
  @EventPattern(MerchantChangedV1, { repeatable: true })
  async onMerchant(events: EventEnvelope<MerchantChanged>[], { connection }: RepeatableContext): Promise<void> {
    for (const { payload, aggregateVersion } of events) {
      const { merchantId, features, minimumAmount = DEFAULT_MINIMUM_AMOUNT } = payload;
      await upsertIfNewer(connection, 'known_merchants', { merchant_id: merchantId }, aggregateVersion, {
        features: JSON.stringify(features),
        minimum_amount: minimumAmount,
      });
    }
  }
}
