import { Get, HttpStatus, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Allow, CallingOperator, PageController } from '../../access/access.guard.js';
import { sendPage } from '../../layout/page-sender.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { AdministrationApi } from '../administration/administration-api.js';
import { type OpenCases, renderCasesPage } from './cases-page.js';

/** The payments, refunds and disputes that need an operator. */
@PageController('operator/cases')
export class CasesController {
  constructor(@Inject(AdministrationApi) private readonly api: AdministrationApi) {}

  @Get()
  @Allow({ operator: 'view' })
  async list(@CallingOperator() viewer: OperatorViewer, @Res() reply: FastifyReply): Promise<void> {
    const [{ cases }, { refunds }, { disputes }] = await Promise.all([
      this.api.get<Pick<OpenCases, 'cases'>>(viewer, '/open-cases'),
      this.api.get<Pick<OpenCases, 'refunds'>>(viewer, '/refunds?state=pending'),
      this.api.get<Pick<OpenCases, 'disputes'>>(viewer, '/disputes'),
    ]);
    await sendPage(reply, HttpStatus.OK, renderCasesPage({ viewer, cases, refunds, disputes }));
  }
}
