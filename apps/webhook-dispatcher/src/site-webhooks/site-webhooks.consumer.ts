import { Controller, Inject } from '@nestjs/common';
import { type EventEnvelope, type SiteChanged, SiteChangedV1 } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { EventPattern, type IdempotentContext, upsertIfNewer } from '@svc/messaging';

/** Stores the webhook of each site (M6). Events may be replayed, because an older version of a site is ignored. */
@Controller()
export class SiteWebhooksConsumer {
  constructor(@Inject(Clock) private readonly clock: Clock) {}

  @EventPattern(SiteChangedV1, { idempotent: true })
  async store(events: EventEnvelope<SiteChanged>[], { connection }: IdempotentContext): Promise<void> {
    for (const { payload: site, aggregateVersion } of events) {
      await upsertIfNewer(connection, 'sites', { site_id: site.siteId }, aggregateVersion, {
        merchant_id: site.merchantId,
        webhook_url: site.webhookUrl ?? null,
        webhook_enabled: site.webhookEnabled,
        // If the webhook was already enabled, a trigger of the database keeps the earlier time.
        notified_since: site.webhookEnabled ? this.clock.now() : null,
      });
    }
  }
}
