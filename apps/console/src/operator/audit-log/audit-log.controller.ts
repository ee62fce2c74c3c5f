import { Get, HttpStatus, Inject, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Allow, CallingOperator, PageController } from '../../access/access.guard.js';
import { sendPage } from '../../layout/page-sender.js';
import type { OperatorViewer } from '../../viewer/viewer.js';
import { AdministrationApi } from '../administration/administration-api.js';
import { type AuditLogEntry, renderAuditLogPage } from './audit-log-page.js';

/** A number beyond every entry, for the newest entries. */
const NEWEST = '999999999999999';

/** The audit log of all services, the newest entries first. */
@PageController('operator/audit-log')
export class AuditLogPagesController {
  constructor(@Inject(AdministrationApi) private readonly api: AdministrationApi) {}

  @Get()
  @Allow({ operator: 'view' })
  async list(
    @CallingOperator() viewer: OperatorViewer,
    @Query('before') text: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const before = typeof text === 'string' && /^\d{1,15}$/.test(text) ? text : NEWEST;
    const { entries } = await this.api.get<{ entries: AuditLogEntry[] }>(viewer, `/audit-log?before=${before}`);
    await sendPage(reply, HttpStatus.OK, renderAuditLogPage({ viewer, entries, isNewest: before === NEWEST }));
  }
}
