import { Controller, Inject } from '@nestjs/common';
import { type TracedPayable, TraceInvoiceV1, type TracePayable } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { MessagePattern } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { traceInvoice } from './trace-invoice.query.js';

/** The part of this service in the timeline of a payment, for operators, whom the console has authenticated. */
@Controller()
export class TimelineConsumer {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  @MessagePattern(TraceInvoiceV1)
  async trace(request: TracePayable): Promise<{ invoice?: TracedPayable }> {
    const invoice = await traceInvoice(this.dataSource, this.clock.now(), request);
    return invoice ? { invoice } : {};
  }
}
