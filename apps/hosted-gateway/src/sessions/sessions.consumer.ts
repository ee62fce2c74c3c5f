import { Controller, Inject } from '@nestjs/common';
import {
  type AnyPaymentSnapshot,
  CardKeyPublishedV1,
  type EventEnvelope,
  isHosted,
  PayableClosedV1,
  type PayableSnapshot,
  PaymentFailedV1,
  PaymentProcessingV1,
  PaymentReversedV1,
  PaymentSucceededV1,
  PaymentVerificationRequiredV1,
  type PublicKeyJwk,
} from '@svc/contracts';
import { EventPattern, type RepeatableContext, upsertIfNewer } from '@svc/messaging';
import { SessionRepository } from './session.repository.js';

const OF_SESSIONS = { repeatable: true, origin: { source: 'session' } } as const;

/** Keeps sessions at what payment-processor says. Replay: each row stays at the newest version it was told of. */
@Controller()
export class SessionsConsumer {
  constructor(@Inject(SessionRepository) private readonly sessions: SessionRepository) {}

  @EventPattern(PaymentProcessingV1, OF_SESSIONS)
  onProcessing(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  @EventPattern(PaymentVerificationRequiredV1, OF_SESSIONS)
  onVerificationRequired(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  /** Replay: the time of a reversal stays what it is. */
  @EventPattern(PaymentReversedV1, OF_SESSIONS)
  onReversed(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.sessions.keepReversals(events.map((event) => event.payload).filter(isHosted));
  }

  @EventPattern(PaymentSucceededV1, OF_SESSIONS)
  onSucceeded(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  @EventPattern(PaymentFailedV1, OF_SESSIONS)
  onFailed(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.keep(events);
  }

  @EventPattern(PayableClosedV1, { repeatable: true })
  async onClosed(events: EventEnvelope<PayableSnapshot>[], { connection }: RepeatableContext): Promise<void> {
    for (const { payload } of events) await this.sessions.keepPayable(connection, payload);
  }

  @EventPattern(CardKeyPublishedV1, { repeatable: true })
  async onCardKey(
    events: EventEnvelope<{ publicJwk: PublicKeyJwk }>[],
    { connection }: RepeatableContext,
  ): Promise<void> {
    for (const { aggregateId, aggregateVersion, payload } of events) {
      await upsertIfNewer(connection, 'card_keys', { name: aggregateId }, aggregateVersion, {
        public_jwk: JSON.stringify(payload.publicJwk),
      });
    }
  }

  private keep(events: EventEnvelope<AnyPaymentSnapshot>[]): Promise<void> {
    return this.sessions.keepPayments(events.map((event) => event.payload).filter(isHosted));
  }
}
