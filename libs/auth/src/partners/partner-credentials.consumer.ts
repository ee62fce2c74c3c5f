import { Controller } from '@nestjs/common';
import {
  type EventEnvelope,
  type PartnerKeyChanged,
  PartnerKeyChangedV1,
  type TokenKeyChanged,
  TokenKeyChangedV1,
} from '@svc/contracts';
import { type ConsumerContext, EventPattern, upsertIfNewer } from '@svc/messaging';
import { importPublicKey } from './token-key.js';

/**
 * Stores this service's copy of partners' credentials. During an event replay, the highest version of each row is kept.
 */
@Controller()
export class PartnerCredentialsConsumer {
  @EventPattern(PartnerKeyChangedV1)
  async onPartnerKeyChanged(events: EventEnvelope<PartnerKeyChanged>[], { tx }: ConsumerContext): Promise<void> {
    for (const { payload: key, aggregateVersion } of events) {
      await upsertIfNewer(tx, 'known_partner_keys', { key_id: key.keyId }, aggregateVersion, {
        organisation_id: key.organisationId,
        mode: key.mode,
        hash: key.hash,
        revoked: key.revoked,
      });
    }
  }

  /**
   * Throws for an unusable key, so that its event becomes a dead letter. If the key were stored, the verification of
   * each token with this kid would fail with an internal error.
   */
  @EventPattern(TokenKeyChangedV1)
  async onTokenKeyChanged(events: EventEnvelope<TokenKeyChanged>[], { tx }: ConsumerContext): Promise<void> {
    for (const { payload, aggregateVersion } of events) {
      importPublicKey(payload.publicJwk);
      await upsertIfNewer(tx, 'known_token_keys', { kid: payload.publicJwk.kid }, aggregateVersion, {
        public_jwk: JSON.stringify(payload.publicJwk),
        withdrawn: payload.withdrawn,
      });
    }
  }
}
