import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { CredentialsHeartbeatV1 } from '@svc/contracts';
import { Clock, newUuid } from '@svc/kernel';
import { DirectPublisher, HEARTBEAT_INTERVAL_MS } from '@svc/messaging';

/**
 * Sends heartbeats. If a service receives no heartbeats, revocations may not reach the service either. A heartbeat is
 * published directly to the broker, like a revocation. It is not stored in the event log, because a late heartbeat has
 * no value. Every replica sends heartbeats.
 */
@Injectable()
export class SendHeartbeat implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private isSending = false;

  constructor(
    @Inject(Clock) private readonly clock: Clock,
    @Inject(DirectPublisher) private readonly direct: DirectPublisher,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.runStep(), HEARTBEAT_INTERVAL_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Sends a heartbeat now. Does nothing while the broker has not yet confirmed the previous heartbeat. */
  async runStep(): Promise<void> {
    if (this.isSending) return;
    this.isSending = true;
    const id = newUuid(this.clock);
    const occurredAt = this.clock.nowISO();
    const type = CredentialsHeartbeatV1.name;
    await this.direct
      .publishOnce([{ id, type, aggregateId: id, aggregateVersion: 1, occurredAt, payload: {} }])
      .finally(() => (this.isSending = false));
  }
}
