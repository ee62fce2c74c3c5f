import { Controller, Get, Inject, Optional } from '@nestjs/common';
import { Relay, Transport } from '@svc/messaging';
import { isReadOnly } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { notReady, ReadinessCheck } from './readiness.js';

/**
 * `/health/live`: the process responds. `/health/ready`: it can accept work, so its database responds and is writable. A broker
 * that is unavailable or blocked is reported and does not make the service unready (ADR 7): work that does not need it continues,
 * and the rest gets a 503. Nor does a relay that a foreign transaction holds back (ADR 27): every service of the server would be
 * unready at once.
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

  /** Reports that the process responds. */
  @Get('live')
  live(): { status: string } {
    return { status: 'ok' };
  }

  /** Reports whether the service can accept work. */
  @Get('ready')
  async ready(): Promise<{ status: string; broker?: string; relay?: string }> {
    if (await isReadOnly((sql) => this.dataSource.query(sql))) throw notReady('the database is read-only');
    // Backfilled once: between processes this service itself, in one process its publishers. From then on a delay is a lag, not a
    // reason to be unready.
    this.caughtUpOnce ||= (await this.transport.isBackfilled()) ?? (await this.relay.isCaughtUp());
    const missing = this.caughtUpOnce ? await this.check?.missing() : 'not all earlier events have arrived yet';
    if (missing) throw notReady(missing);
    const { brokerState } = this.transport;
    return {
      status: 'ok',
      ...(brokerState === undefined ? {} : { broker: brokerState }),
      ...(this.relay.isHeldBack ? { relay: 'held back' } : {}),
    };
  }
}
