import { Controller } from '@nestjs/common';
import { type EventEnvelope, type WebhookSecretChanged, WebhookSecretChangedV1 } from '@svc/contracts';
import { type ConsumerContext, EventPattern, upsertIfNewer } from '@svc/messaging';

/** Stores which webhook secrets exist. A replay is safe: the highest version of each row wins. */
@Controller()
export class SigningKeysConsumer {
  @EventPattern(WebhookSecretChangedV1)
  async onChanged(events: EventEnvelope<WebhookSecretChanged>[], { tx }: ConsumerContext): Promise<void> {
    for (const { payload: secret, aggregateVersion } of events) {
      await upsertIfNewer(tx, 'known_webhook_secrets', { secret_id: secret.secretId }, aggregateVersion, {
        mode: secret.mode,
        merchant_id: secret.merchantId,
        site_id: secret.siteId,
        revoked: secret.revoked,
      });
    }
  }
}
