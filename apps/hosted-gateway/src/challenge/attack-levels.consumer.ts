import { Controller } from '@nestjs/common';
import { type EventEnvelope, type SiteAttackLevelChanged, SiteAttackLevelChangedV1 } from '@svc/contracts';
import { EventPattern, type IdempotentContext, upsertIfNewer } from '@svc/messaging';

/** Stores the levels of sites under attack. A replay is safe: the highest version of each site and mode wins. */
@Controller()
export class AttackLevelsConsumer {
  @EventPattern(SiteAttackLevelChangedV1, { idempotent: true })
  async onAttackLevel(
    events: EventEnvelope<SiteAttackLevelChanged>[],
    { connection }: IdempotentContext,
  ): Promise<void> {
    for (const { payload } of events) {
      const { mode, merchantId, siteId, level, untilUTCDate: until, version } = payload;
      const site = { mode, merchant_id: merchantId, site_id: siteId };
      await upsertIfNewer(connection, 'site_attack_levels', site, version, { level, until });
    }
  }
}
