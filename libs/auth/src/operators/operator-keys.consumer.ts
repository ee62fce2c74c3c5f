import { Controller } from '@nestjs/common';
import { type EventEnvelope, type OperatorKeyChanged, OperatorKeyChangedV1 } from '@svc/contracts';
import { type ConsumerContext, EventPattern, upsertIfNewer } from '@svc/messaging';

/** Stores this service's copy of operators' keys. During an event replay, the highest version of each row is kept. */
@Controller()
export class OperatorKeysConsumer {
  @EventPattern(OperatorKeyChangedV1)
  async onOperatorKeyChanged(events: EventEnvelope<OperatorKeyChanged>[], { tx }: ConsumerContext): Promise<void> {
    for (const { payload: key, aggregateVersion } of events) {
      await upsertIfNewer(tx, 'known_operator_keys', { key_id: key.keyId }, aggregateVersion, {
        person_id: key.personId,
        role: key.role,
        hash: key.hash,
        expires_at: key.expiresUTCDate,
        revoked: key.revoked,
      });
    }
  }
}
