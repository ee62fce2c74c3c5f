import { Get, HttpStatus, Inject, Query, Res } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import { DataSource } from 'typeorm';
import { Allow, CallingViewer, PageController } from '../access/access.guard.js';
import { sendPage } from '../layout/page-sender.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { readDisputeChoice } from './dispute-filters.js';
import { renderDisputesPage } from './disputes-page.js';
import { listDisputes } from './list-disputes.query.js';

const PAGE_SIZE = 50;

/** The disputes of payers' banks, with the time until which the merchant can answer. */
@PageController(':merchantId/:mode')
export class DisputesController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  @Get('disputes')
  @Allow({ right: 'disputes.read' })
  async list(
    @CallingViewer() viewer: MerchantViewer,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const choice = readDisputeChoice(query);
    const found = await listDisputes(this.dataSource, { scope: viewer.scope, ...choice, limit: PAGE_SIZE + 1 });
    const disputes = found.slice(0, PAGE_SIZE);
    const page = { viewer, choice, disputes, hasMore: found.length > PAGE_SIZE, now: this.clock.now() };
    await sendPage(reply, HttpStatus.OK, renderDisputesPage(page));
  }
}
