import { Controller } from '@nestjs/common';
import {
  type EventEnvelope,
  type MerchantChanged,
  MerchantChangedV1,
  type SiteChanged,
  SiteChangedV1,
} from '@svc/contracts';
import { EventPattern, type IdempotentContext, upsertIfNewer } from '@svc/messaging';

/** Stores the merchant data that payments need. Events may be repeated: only a higher version changes a row. */
@Controller()
export class MerchantsConsumer {
  @EventPattern(MerchantChangedV1, { idempotent: true })
  async storeMerchants(events: EventEnvelope<MerchantChanged>[], { connection }: IdempotentContext): Promise<void> {
    for (const { payload, aggregateVersion } of events) {
      await upsertIfNewer(connection, 'known_merchants', { merchant_id: payload.merchantId }, aggregateVersion, {
        name: payload.name,
        features: JSON.stringify(payload.features),
        minimum_amount: payload.minimumAmount,
        maximum_amount: payload.maximumAmount ?? null,
        grants: JSON.stringify(payload.grants),
        fees: JSON.stringify(payload.fees),
        time_zones: JSON.stringify(payload.timeZones),
      });
    }
  }

  @EventPattern(SiteChangedV1, { idempotent: true })
  async storeSites(events: EventEnvelope<SiteChanged>[], { connection }: IdempotentContext): Promise<void> {
    for (const { payload, aggregateVersion } of events) {
      await upsertIfNewer(connection, 'known_sites', { site_id: payload.siteId }, aggregateVersion, {
        merchant_id: payload.merchantId,
        site_reference: payload.siteReference,
      });
    }
  }
}
