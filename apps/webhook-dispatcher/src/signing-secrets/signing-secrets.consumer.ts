import { Controller } from '@nestjs/common';
import { type EventEnvelope, type SigningSecretChanged, SigningSecretChangedV1 } from '@svc/contracts';
import { type ConsumerContext, EventPattern, upsertIfNewer } from '@svc/messaging';

/** Stores the encrypted secrets that sign notifications. Events may be replayed, because older versions are ignored. */
@Controller()
export class SigningSecretsConsumer {
  @EventPattern(SigningSecretChangedV1)
  async store(events: EventEnvelope<SigningSecretChanged>[], { tx }: ConsumerContext): Promise<void> {
    for (const { payload: secret, aggregateVersion } of events) {
      await upsertIfNewer(tx, 'signing_secrets', { secret_id: secret.secretId }, aggregateVersion, {
        purpose: secret.purpose,
        mode: secret.mode,
        merchant_id: secret.merchantId,
        site_id: secret.siteId ?? null,
        sealed: secret.sealed,
        is_primary: secret.primary,
        revoked: secret.revoked,
      });
    }
  }
}
