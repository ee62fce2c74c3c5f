import { Get, HttpStatus, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Allow, CallingOperator, PageController } from '../access/access.guard.js';
import { sendPage } from '../layout/page-sender.js';
import type { OperatorViewer } from '../viewer/viewer.js';
import { renderOperatorPage } from './operator-page.js';

/** The first page of operators of the platform. */
@PageController('operator')
export class OperatorController {
  @Get()
  @Allow({ operator: 'view' })
  async show(@CallingOperator() viewer: OperatorViewer, @Res() reply: FastifyReply): Promise<void> {
    await sendPage(reply, HttpStatus.OK, renderOperatorPage(viewer));
  }
}
