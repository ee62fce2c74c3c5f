import { Controller } from '@nestjs/common';
import {
  type EventEnvelope,
  type MerchantChanged,
  MerchantChangedV1,
  type SiteChanged,
  SiteChangedV1,
} from '@svc/contracts';
import { EventPattern, type IdempotentContext, upsertIfNewer } from '@svc/messaging';

/** Stores the names of merchants and sites. Events may be repeated: only a higher version changes a row. */
@Controller()
export class MerchantsConsumer {
  @EventPattern(MerchantChangedV1, { idempotent: true })
  async storeMerchants(events: EventEnvelope<MerchantChanged>[], { connection }: IdempotentContext): Promise<void> {
    for (const { payload, aggregateVersion } of events) {
      await upsertIfNewer(connection, 'known_merchants', { merchant_id: payload.merchantId }, aggregateVersion, {
        name: payload.name,
        time_zones: JSON.stringify(payload.timeZones),
      });
    }
  }

  @EventPattern(SiteChangedV1, { idempotent: true })
  async storeSites(events: EventEnvelope<SiteChanged>[], { connection }: IdempotentContext): Promise<void> {
    for (const { payload, aggregateVersion } of events) {
      await upsertIfNewer(connection, 'known_sites', { site_id: payload.siteId }, aggregateVersion, {
        merchant_id: payload.merchantId,
        name: payload.name,
        site_reference: payload.siteReference,
      });
    }
  }
}
