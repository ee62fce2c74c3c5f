import { Controller, Inject } from '@nestjs/common';
import { type EventEnvelope, type SiteChanged, SiteChangedV1 } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { EventPattern, type RepeatableContext, upsertIfNewer } from '@svc/messaging';

/** Keeps the webhook of each site (M6). Replay: the highest version of each row stays. */
@Controller()
export class SiteWebhooksConsumer {
  constructor(@Inject(Clock) private readonly clock: Clock) {}

  @EventPattern(SiteChangedV1, { repeatable: true })
  async keep(events: EventEnvelope<SiteChanged>[], { connection }: RepeatableContext): Promise<void> {
    for (const { payload: site, aggregateVersion } of events) {
      await upsertIfNewer(connection, 'sites', { site_id: site.siteId }, aggregateVersion, {
        merchant_id: site.merchantId,
        site_reference: site.siteReference,
        // Of a release that does not know the webhook: the one that is kept stays.
        ...(site.webhookEnabled === undefined
          ? {}
          : {
              webhook_url: site.webhookUrl ?? null,
              webhook_enabled: site.webhookEnabled,
              // Where it was enabled before, the table keeps the earlier time.
              notified_since: site.webhookEnabled ? this.clock.now() : null,
            }),
      });
    }
  }
}
