import { Controller, Inject } from '@nestjs/common';
import { type TracedPayable, type TracePayable, TraceSessionV1 } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { MessagePattern } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { traceSession } from './trace-session.query.js';

/** The part of this service in the timeline of a payment, for operators, whom the console has authenticated. */
@Controller()
export class TimelineConsumer {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  @MessagePattern(TraceSessionV1)
  async trace(request: TracePayable): Promise<{ session?: TracedPayable }> {
    const session = await traceSession(this.dataSource, this.clock.now(), request);
    return session ? { session } : {};
  }
}
