import { Body, Get, HttpStatus, Inject, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Allow, CallingOperator, PageController } from '../../access/access.guard.js';
import { readField } from '../../layout/forms.js';
import { sendPage } from '../../layout/page-sender.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { AdministrationApi } from '../administration/administration-api.js';
import { describeResult, type FormResult } from '../administration/form-result.js';
import { renderReconciliationsPage, renderRunPage, type RunSummary, type RunView } from './reconciliations-page.js';

/** The reconciliations by day, with their differences. */
@PageController('operator/reconciliations')
export class ReconciliationPagesController {
  constructor(@Inject(AdministrationApi) private readonly api: AdministrationApi) {}

  @Get()
  @Allow({ operator: 'view' })
  async list(@CallingOperator() viewer: OperatorViewer, @Res() reply: FastifyReply): Promise<void> {
    await this.send(reply, viewer);
  }

  @Post()
  @Allow({ operator: 'change' })
  async request(
    @CallingOperator() viewer: OperatorViewer,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const day = readField(form, 'day', 10) ?? '';
    const result = await describeResult(async () => {
      await this.api.call(viewer, 'POST', '/reconciliations', { day });
      return `The comparison of ${day} was requested. Load this page again to see its result.`;
    });
    await this.send(reply, viewer, result);
  }

  @Get(':runId')
  @Allow({ operator: 'view' })
  async show(
    @CallingOperator() viewer: OperatorViewer,
    @Param('runId') runId: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.api.get<RunView>(viewer, `/reconciliations/${encodeURIComponent(runId)}`);
    await sendPage(reply, HttpStatus.OK, renderRunPage({ viewer, run }));
  }

  private async send(reply: FastifyReply, viewer: OperatorViewer, { status, message }: FormResult = {}): Promise<void> {
    const { reconciliations: runs } = await this.api.get<{ reconciliations: RunSummary[] }>(viewer, '/reconciliations');
    await sendPage(reply, status ?? HttpStatus.OK, renderReconciliationsPage({ viewer, runs, message }));
  }
}
