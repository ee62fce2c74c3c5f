import { Controller, Get, Inject, Optional } from '@nestjs/common';
import { Relay, Transport } from '@svc/messaging';
import { isReadOnly } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { notReady, ReadinessCheck } from './readiness.js';

/**
 * `/health/live`: the process answers. `/health/ready`: it may be given work, so its database answers and can be written. A
 * broker that is away or blocked is said and
 * is no reason to be unready (ADR 7): what does not need it goes on, and what does is refused with 503 by itself. Neither is a
 * relay that a foreign transaction holds back (ADR 27): every service of the server would be unready at once.
 *
 * @internal
 */
@Controller('health')
export class HealthController {
  private caughtUpOnce = false;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Relay) private readonly relay: Relay,
    @Inject(Transport) private readonly transport: Transport,
    @Optional() @Inject(ReadinessCheck) private readonly check?: ReadinessCheck,
  ) {}

  /** Says that the process answers. */
  @Get('live')
  live(): { status: string } {
    return { status: 'ok' };
  }

  /** Says whether the service may be given work. */
  @Get('ready')
  async ready(): Promise<{ status: string; broker?: string; relay?: string }> {
    if (await isReadOnly((sql) => this.dataSource.query(sql))) throw notReady('the database is read-only');
    // The past has been heard: between processes by this service, in one process by those it speaks to. From then on a
    // delay is a lag, not a reason to be away.
    this.caughtUpOnce ||= (await this.transport.knowsThePast()) ?? (await this.relay.isCaughtUp());
    const missing = this.caughtUpOnce ? await this.check?.missing() : 'what happened before has not all arrived yet';
    if (missing) throw notReady(missing);
    const { brokerState } = this.transport;
    return {
      status: 'ok',
      ...(brokerState === undefined ? {} : { broker: brokerState }),
      ...(this.relay.isHeldBack ? { relay: 'held back' } : {}),
    };
  }
}
