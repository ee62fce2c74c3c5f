import { Controller } from '@nestjs/common';
import { type EventEnvelope, type MerchantChanged, MerchantChangedV1 } from '@svc/contracts';
import { EventPattern, type IdempotentContext, upsertIfNewer } from '@svc/messaging';

/**
 * Stores the merchants' names and features for decoded codes. During an event replay, the highest version of each row
 * is kept.
 */
@Controller()
export class MerchantsConsumer {
  @EventPattern(MerchantChangedV1, { idempotent: true })
  async onChanged(events: EventEnvelope<MerchantChanged>[], { connection }: IdempotentContext): Promise<void> {
    for (const { payload, aggregateVersion } of events) {
      await upsertIfNewer(connection, 'known_merchants', { merchant_id: payload.merchantId }, aggregateVersion, {
        name: payload.name,
        features: JSON.stringify(payload.features),
      });
    }
  }
}
