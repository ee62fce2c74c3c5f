import { Controller } from '@nestjs/common';
import { type EventEnvelope, type PublicKeyJwk, SealingKeyPublishedV1 } from '@svc/contracts';
import { type ConsumerContext, EventPattern } from '@svc/messaging';
import { importJWK } from 'jose';
import { upsertSealingKeyIfNewer } from './sealing-key.repository.js';

/** Stores the public key of webhook-dispatcher. identity encrypts secrets for webhook-dispatcher with this key. */
@Controller()
export class SealingKeyConsumer {
  /**
   * Stores the key of the event with the highest version. If several events have this version, stores the key of the
   * latest event. Therefore late and repeated events change nothing. Throws for an invalid key: its event becomes a
   * dead letter, and the stored key stays.
   */
  @EventPattern(SealingKeyPublishedV1)
  async onSealingKeyPublished(
    events: EventEnvelope<{ publicJwk: PublicKeyJwk }>[],
    { tx }: ConsumerContext,
  ): Promise<void> {
    for (const { payload, aggregateVersion, occurredAt } of events) {
      await importJWK({ ...payload.publicJwk }, 'ECDH-ES');
      await upsertSealingKeyIfNewer(tx, payload.publicJwk, aggregateVersion, occurredAt);
    }
  }
}
