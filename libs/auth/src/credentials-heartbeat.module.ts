import { Controller, Inject, Injectable, Module, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { CredentialsHeartbeatV1, type EventEnvelope } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import {
  EventPattern,
  HeartbeatMonitor,
  type IdempotentContext,
  MESSAGING_LOG,
  type MessagingLog,
  storeHeartbeats,
} from '@svc/messaging';
import { DataSource } from 'typeorm';

const PUBLISHER = 'identity';

/** Stores the time of the newest heartbeat. An event replay does not replace that time by an older one. */
@Controller()
class CredentialsHeartbeatConsumer {
  @EventPattern(CredentialsHeartbeatV1, { idempotent: true })
  onHeartbeat(events: EventEnvelope<Record<string, never>>[], { connection }: IdempotentContext): Promise<void> {
    return storeHeartbeats(connection, PUBLISHER, events);
  }
}

/** Logs an error when no heartbeat of identity has arrived for too long. */
@Injectable()
export class CredentialsHeartbeat extends HeartbeatMonitor implements OnModuleInit, OnModuleDestroy {
  constructor(
    @Inject(DataSource) dataSource: DataSource,
    @Inject(Clock) clock: Clock,
    @Inject(MESSAGING_LOG) log: MessagingLog,
  ) {
    super(PUBLISHER, dataSource, clock, log);
  }

  onModuleInit(): void {
    this.start();
  }

  onModuleDestroy(): void {
    this.stop();
  }
}

/**
 * Every service that stores credentials from identity imports this module. If no heartbeats arrive, identity may be
 * down, or its revocations may not reach this service. The service then logs an error, and continues to verify requests
 * with the stored credentials (A2).
 */
@Module({
  controllers: [CredentialsHeartbeatConsumer],
  providers: [CredentialsHeartbeat],
  exports: [CredentialsHeartbeat],
})
export class CredentialsHeartbeatModule {}
