import { Get, HttpStatus, Inject, Query, Res } from '@nestjs/common';
import { isUuid } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import { DataSource } from 'typeorm';
import { Allow, CallingViewer, PageController } from '../../access/access.guard.js';
import { parsePosition } from '../../layout/page-position.js';
import { sendPage } from '../../layout/page-sender.js';
import type { MerchantViewer } from '../../viewer/viewer.js';
import { type CallPosition, listFailedCalls } from './failed-call.repository.js';
import { renderFailedCallsPage } from './failed-calls-page.js';

const PAGE_SIZE = 50;

/** The calls of the merchant's servers that failed in the last three days. */
@PageController(':merchantId/:mode/developers/calls')
export class FailedCallsController {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  @Get()
  @Allow({ right: 'keys.read' })
  async list(
    @CallingViewer() viewer: MerchantViewer,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const after = readPosition(query['after']);
    const found = await listFailedCalls(this.dataSource, viewer.scope, after, PAGE_SIZE + 1);
    const page = { viewer, calls: found.slice(0, PAGE_SIZE), hasMore: found.length > PAGE_SIZE };
    await sendPage(reply, HttpStatus.OK, renderFailedCallsPage({ ...page, isFirst: after === undefined }));
  }
}

function readPosition(text: unknown): CallPosition | undefined {
  const { time, id } = parsePosition(text) ?? {};
  return time && isUuid(id) ? { calledAt: time, requestId: id } : undefined;
}
