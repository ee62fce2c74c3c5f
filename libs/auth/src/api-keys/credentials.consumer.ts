import { Controller } from '@nestjs/common';
import {
  type ApiKeyChanged,
  ApiKeyChangedV1,
  type EventEnvelope,
  type SiteChanged,
  SiteChangedV1,
} from '@svc/contracts';
import { type ConsumerContext, EventPattern, upsertIfNewer } from '@svc/messaging';
import { storeApiKeys } from './api-keys.consumer.js';

/**
 * Stores this service's copy of sites and key hashes. During an event replay, the highest version of each row is kept.
 */
@Controller()
export class CredentialsConsumer {
  @EventPattern(SiteChangedV1)
  async onSiteChanged(events: EventEnvelope<SiteChanged>[], { tx }: ConsumerContext): Promise<void> {
    for (const { payload: site, aggregateVersion } of events) {
      await upsertIfNewer(tx, 'known_sites', { merchant_id: site.merchantId, site_id: site.siteId }, aggregateVersion, {
        merchant_name: site.merchantName,
        site_reference: site.siteReference,
        name: site.name,
        require_api_key: site.requireApiKey,
        allowed_hosts: JSON.stringify(site.allowedHosts),
        keyless_mode: site.keylessMode,
        challenge_payers: site.challengePayers,
      });
    }
  }

  @EventPattern(ApiKeyChangedV1)
  onApiKeyChanged(events: EventEnvelope<ApiKeyChanged>[], { tx }: ConsumerContext): Promise<void> {
    return storeApiKeys(tx, events);
  }
}
