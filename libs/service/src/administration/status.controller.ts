import { Controller, Get, Inject, type Type, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { Clock } from '@svc/kernel';
import { DeadLetters, Relay, Transport } from '@svc/messaging';
import { VERSION } from '../version.js';

/** The state of a service as an operator sees it at first. */
export interface ServiceStatus {
  readonly service: string;
  readonly version: string;
  /** ISO 8601 UTC. Of the replica that responds. */
  readonly startedUTCDate: string;
  /** Seconds since the oldest event that some service has not received; 0 if all have received everything. */
  readonly relayAgeSeconds: number;
  /** Events whose handler kept failing, at most 10 000 are counted. */
  readonly deadLetters: number;
  /** Events that wait for a lock or for an earlier event, at most 10 000 are counted. */
  readonly deferred: number;
  /** The connection to RabbitMQ; `none` if all services run in one process. */
  readonly broker: string;
}

// The docstring below is the description of this API in the reference. A service adds the returned class to the
// controllers of its module, and provides ADMIN_KEY.
/**
 * For administrators: reads the version of a service, and what waits in it.
 */
export function createStatusController(service: string): Type {
  @Controller(`admin/v1/status/${service}`)
  @UseGuards(AdminKeyGuard)
  class StatusController {
    private readonly startedAt: Date;

    constructor(
      @Inject(DeadLetters) private readonly deadLetters: DeadLetters,
      @Inject(Relay) private readonly relay: Relay,
      @Inject(Transport) private readonly transport: Transport,
      @Inject(Clock) private readonly clock: Clock,
    ) {
      this.startedAt = clock.now();
    }

    /** Reads the version of the service, the lag of its relay, and the number of its dead letters. */
    @Get()
    async read(): Promise<ServiceStatus> {
      const [oldest, counts] = await Promise.all([this.relay.findOldestWaiting(), this.deadLetters.count()]);
      const ageMs = oldest === undefined ? 0 : this.clock.now().getTime() - oldest.getTime();
      return {
        service,
        version: VERSION,
        startedUTCDate: this.startedAt.toISOString(),
        relayAgeSeconds: Math.max(0, Math.round(ageMs / 1000)),
        ...counts,
        broker: this.transport.brokerState ?? 'none',
      };
    }
  }
  return StatusController;
}
