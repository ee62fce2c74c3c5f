import { Controller, Inject } from '@nestjs/common';
import { type EventEnvelope, type HostedPayableDescriptor, SessionCreatedV1, SessionExtendedV1 } from '@svc/contracts';
import { EventPattern } from '@svc/messaging';
import { SessionCodeRepository } from './session-code.repository.js';

/**
 * Stores the codes of hosted sessions. PayablesConsumer (../invoices/payables.consumer.ts) stores when sessions are
 * closed.
 */
@Controller()
export class SessionsConsumer {
  constructor(@Inject(SessionCodeRepository) private readonly sessionCodes: SessionCodeRepository) {}

  /** During an event replay, existing sessions are not changed. */
  @EventPattern(SessionCreatedV1, { idempotent: true })
  onCreated(events: EventEnvelope<{ payable: HostedPayableDescriptor }>[]): Promise<void> {
    return this.sessionCodes.insertIfAbsent(events.map(({ payload, occurredAt }) => ({ ...payload, at: occurredAt })));
  }

  /** During an event replay, the latest expiry is kept. */
  @EventPattern(SessionExtendedV1, { idempotent: true })
  onExtended(events: EventEnvelope<{ payable: HostedPayableDescriptor }>[]): Promise<void> {
    return this.sessionCodes.extend(events.map(({ payload, occurredAt }) => ({ ...payload, at: occurredAt })));
  }
}
