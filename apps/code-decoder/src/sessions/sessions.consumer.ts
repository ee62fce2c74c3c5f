import { Controller, Inject } from '@nestjs/common';
import { type EventEnvelope, type PayableDescriptor, SessionCreatedV1, SessionExtendedV1 } from '@svc/contracts';
import { EventPattern } from '@svc/messaging';
import { SessionCodeRepository } from './session-code.repository.js';

/** Keeps what the codes of hosted sessions stand for. That they are over comes with the payables (../invoices/payables.consumer.ts). */
@Controller()
export class SessionsConsumer {
  constructor(@Inject(SessionCodeRepository) private readonly sessionCodes: SessionCodeRepository) {}

  /** Replay: a session that is kept stays as it is. */
  @EventPattern(SessionCreatedV1, { repeatable: true })
  onCreated(events: EventEnvelope<{ payable: PayableDescriptor }>[]): Promise<void> {
    return this.sessionCodes.keepMade(events.map(({ payload, occurredAt }) => ({ ...payload, at: occurredAt })));
  }

  /** Replay: the latest time stays. */
  @EventPattern(SessionExtendedV1, { repeatable: true })
  onExtended(events: EventEnvelope<{ payable: PayableDescriptor }>[]): Promise<void> {
    return this.sessionCodes.keepExtended(events.map(({ payload, occurredAt }) => ({ ...payload, at: occurredAt })));
  }
}
