import { Controller, Inject } from '@nestjs/common';
import {
  type EventEnvelope,
  type InvoiceCreated,
  InvoiceCreatedV1,
  type MerchantChanged,
  MerchantChangedV1,
  type TillCodeCreated,
  TillCodeCreatedV1,
} from '@svc/contracts';
import { EventPattern, type IdempotentContext, upsertIfNewer } from '@svc/messaging';
import { TillCodeRepository } from './till-code.repository.js';
import { TillInvoiceRepository } from './till-invoice.repository.js';

/** Stores the codes of tills, their invoices, the options that merchants offer to payers, and their time zones. */
@Controller()
export class TillCodesConsumer {
  constructor(
    @Inject(TillCodeRepository) private readonly tillCodes: TillCodeRepository,
    @Inject(TillInvoiceRepository) private readonly invoices: TillInvoiceRepository,
  ) {}

  /** A replay is safe: existing invoices stay unchanged. */
  @EventPattern(InvoiceCreatedV1, { idempotent: true })
  onInvoice(events: EventEnvelope<InvoiceCreated>[]): Promise<void> {
    return this.invoices.insertIfAbsent(events.map(({ payload }) => payload));
  }

  /** A replay is safe: the till of a code never changes, so existing rows stay unchanged. */
  @EventPattern(TillCodeCreatedV1, { idempotent: true })
  onTill(events: EventEnvelope<TillCodeCreated>[]): Promise<void> {
    return this.tillCodes.insertIfAbsent(events.map(({ payload }) => payload));
  }

  /** A replay is safe: the highest version of each merchant wins. */
  @EventPattern(MerchantChangedV1, { idempotent: true })
  async onMerchant(events: EventEnvelope<MerchantChanged>[], { connection }: IdempotentContext): Promise<void> {
    for (const { payload, aggregateVersion } of events) {
      const { merchantId, features, minimumAmount, maximumAmount = null, timeZones } = payload;
      await upsertIfNewer(connection, 'known_merchants', { merchant_id: merchantId }, aggregateVersion, {
        features: JSON.stringify(features),
        minimum_amount: minimumAmount,
        maximum_amount: maximumAmount,
        time_zones: JSON.stringify(timeZones),
      });
    }
  }
}
