import { Controller, Inject, Injectable, Module, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { CredentialsHeartbeatV1, type EventEnvelope } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import {
  EventPattern,
  HeartbeatMonitor,
  MESSAGING_LOG,
  type MessagingLog,
  type RepeatableContext,
  storeHeartbeats,
} from '@svc/messaging';
import { DataSource } from 'typeorm';

const PUBLISHER = 'identity';

/** Replay: the newest heartbeat stays. */
@Controller()
export class CredentialsHeartbeatConsumer {
  @EventPattern(CredentialsHeartbeatV1, { repeatable: true })
  keep(events: EventEnvelope<Record<string, never>>[], { connection }: RepeatableContext): Promise<void> {
    return storeHeartbeats(connection, PUBLISHER, events);
  }
}

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
 * For every service that stores credentials of identity: it alarms when identity is silent, and continues to verify with the
 * stored credentials (A2). A silent identity may be down, or its revocations do not arrive.
 */
@Module({
  controllers: [CredentialsHeartbeatConsumer],
  providers: [CredentialsHeartbeat],
  exports: [CredentialsHeartbeat],
})
export class CredentialsHeartbeatModule {}
