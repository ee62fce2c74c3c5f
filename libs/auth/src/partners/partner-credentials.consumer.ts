import { Controller } from '@nestjs/common';
import {
  type EventEnvelope,
  type PartnerKeyChanged,
  PartnerKeyChangedV1,
  type TokenKeyChanged,
  TokenKeyChangedV1,
} from '@svc/contracts';
import { type ConsumerContext, EventPattern, upsertIfNewer } from '@svc/messaging';
import { publicKeyOf } from './token-key.js';

/** Stores this service's copy of partners' credentials. Replay: the highest version of each row stays. */
@Controller()
export class PartnerCredentialsConsumer {
  @EventPattern(PartnerKeyChangedV1)
  async keepPartnerKeys(events: EventEnvelope<PartnerKeyChanged>[], { tx }: ConsumerContext): Promise<void> {
    for (const { payload: key, aggregateVersion } of events) {
      await upsertIfNewer(tx, 'known_partner_keys', { key_id: key.keyId }, aggregateVersion, {
        organisation_id: key.organisationId,
        mode: key.mode,
        hash: key.hash,
        revoked: key.revoked,
      });
    }
  }

  /** An unusable key becomes a dead letter here instead of an error at every token. */
  @EventPattern(TokenKeyChangedV1)
  async keepTokenKeys(events: EventEnvelope<TokenKeyChanged>[], { tx }: ConsumerContext): Promise<void> {
    for (const { payload, aggregateVersion } of events) {
      publicKeyOf(payload.publicJwk);
      await upsertIfNewer(tx, 'known_token_keys', { kid: payload.publicJwk.kid }, aggregateVersion, {
        public_jwk: JSON.stringify(payload.publicJwk),
        withdrawn: payload.withdrawn,
      });
    }
  }
}
