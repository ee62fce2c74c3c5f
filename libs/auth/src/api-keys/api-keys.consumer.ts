import { Controller } from '@nestjs/common';
import { type ApiKeyChanged, ApiKeyChangedV1, type EventEnvelope } from '@svc/contracts';
import { type ConsumerContext, EventPattern, upsertIfNewer } from '@svc/messaging';
import type { EntityManager } from 'typeorm';

/**
 * Stores the hashes of merchants' and sites' keys, for a service that has its own table of sites. Other services import
 * {@link CredentialsConsumer}, which stores sites and keys. During an event replay, the highest version of each row is
 * kept.
 */
@Controller()
export class ApiKeysConsumer {
  @EventPattern(ApiKeyChangedV1)
  onApiKeyChanged(events: EventEnvelope<ApiKeyChanged>[], { tx }: ConsumerContext): Promise<void> {
    return storeApiKeys(tx, events);
  }
}

export async function storeApiKeys(tx: EntityManager, events: readonly EventEnvelope<ApiKeyChanged>[]): Promise<void> {
  for (const { payload: key, aggregateVersion } of events) {
    await upsertIfNewer(tx, 'known_api_keys', { key_id: key.keyId }, aggregateVersion, {
      kind: key.kind,
      mode: key.mode,
      merchant_id: key.merchantId,
      site_id: key.siteId ?? null,
      hash: key.hash,
      revoked: key.revoked,
    });
  }
}
