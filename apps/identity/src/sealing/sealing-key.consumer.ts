import { Controller } from '@nestjs/common';
import { type EventEnvelope, type PublicKeyJwk, SealingKeyPublishedV1 } from '@svc/contracts';
import { type ConsumerContext, EventPattern } from '@svc/messaging';
import { importJWK } from 'jose';
import { upsertSealingKeyIfNewer } from './sealing-key.repository.js';

/** Stores the public key of webhook-dispatcher, which encrypts secrets for it. */
@Controller()
export class SealingKeyConsumer {
  /**
   * Replay: the highest version stays, and of the same version the latest, so late and repeated events change nothing.
   * An event with an invalid key becomes a dead letter and does not replace a valid key.
   */
  @EventPattern(SealingKeyPublishedV1)
  async keepNewest(events: EventEnvelope<{ publicJwk: PublicKeyJwk }>[], { tx }: ConsumerContext): Promise<void> {
    for (const { payload, aggregateVersion, occurredAt } of events) {
      await importJWK({ ...payload.publicJwk }, 'ECDH-ES');
      await upsertSealingKeyIfNewer(tx, payload.publicJwk, aggregateVersion, occurredAt);
    }
  }
}
