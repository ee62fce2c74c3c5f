import { Controller, Get, Inject, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { type OpenRestore, Relay, Restores, Transport } from '@svc/messaging';
import { ProbeConnection } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { notReady, ReadinessCheck } from './readiness.js';

/**
 * `/health/live`: the process responds. `/health/ready`: the service can accept requests, so its database responds and
 * is writable. If the broker is unavailable or blocked, the response contains that state, but the service stays ready
 * (ADR 7): requests that need the broker get a 503, and all other requests are handled. It is not ready if it cannot
 * receive requests although the broker is available, because other replicas can (ADR 68). The check has a connection of
 * its own, so it does not wait while the service uses all connections of its pool.
 *
 * @internal
 */
@Controller('health')
export class HealthController implements OnApplicationShutdown {
  private hasCaughtUp = false;
  private readonly probe: ProbeConnection;

  constructor(
    @Inject(DataSource) dataSource: DataSource,
    @Inject(Relay) private readonly relay: Relay,
    @Inject(Transport) private readonly transport: Transport,
    @Inject(Restores) private readonly restores: Restores,
    @Optional() @Inject(ReadinessCheck) private readonly check?: ReadinessCheck,
  ) {
    this.probe = new ProbeConnection(dataSource);
  }

  onApplicationShutdown(): Promise<void> {
    return this.probe.close();
  }

  /** Reports that the process responds. */
  @Get('live')
  live(): { status: string } {
    return { status: 'ok' };
  }

  /** Reports whether the service can accept work. */
  @Get('ready')
  async ready(): Promise<{ status: string; broker?: string; unattached?: string[] }> {
    if (await this.probe.isReadOnly()) throw notReady('the database is read-only');
    // A new release needs new permissions at the broker (ADR 26). A rollout must wait until they are imported.
    const refused = this.transport.missingPermissions;
    if (refused.length > 0) throw notReady(`the broker does not allow this service to ${refused.join(', ')}`);
    const restore = await this.restores.findOpen();
    if (restore) throw notReady(describeRestore(restore));
    // The service must once have handled all events from before its start. With RabbitMQ, this is true when the replays
    // that it requested are complete. Within one process, it is true when the relay has caught up. Later delays do not
    // make the service unready.
    this.hasCaughtUp ||= (await this.transport.isBackfilled()) ?? (await this.relay.isCaughtUp());
    const missing = this.hasCaughtUp ? await this.check?.missing() : 'not all earlier events have arrived yet';
    if (missing) throw notReady(missing);
    const { brokerState, unattachedQueues } = this.transport;
    const commands = unattachedQueues.filter(({ isForRequests }) => isForRequests).map(({ name }) => name);
    if (commands.length > 0) throw notReady(`the broker refuses the queues of ${commands.join(', ')}`);
    return {
      status: 'ok',
      ...(brokerState === undefined ? {} : { broker: brokerState }),
      ...(unattachedQueues.length > 0 ? { unattached: unattachedQueues.map(({ name }) => name) } : {}),
    };
  }
}

/** docs/backup.md lists the steps after a restore. */
function describeRestore({ restoredTo, replayedAt }: OpenRestore): string {
  const missing = replayedAt ? 'it is not open for payments yet' : 'later events have not all arrived again';
  return `the database was restored to ${restoredTo.toISOString()}, and ${missing}`;
}
