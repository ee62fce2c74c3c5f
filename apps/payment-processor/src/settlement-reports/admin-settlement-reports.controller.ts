import { Controller, Get, Inject, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { invalidField, isUuid } from '@svc/kernel';
import {
  AdminSettlementReportsQuery,
  type SettlementReportView,
  type UnmatchedLineView,
} from './admin-settlement-reports.query.js';

/**
 * Settlement reports of acquirers, for administrators. Needs `x-admin-key`.
 *
 * @group Settlement reports
 */
@Controller('admin/v1/settlement-reports')
@UseGuards(AdminKeyGuard)
export class AdminSettlementReportsController {
  constructor(@Inject(AdminSettlementReportsQuery) private readonly reports: AdminSettlementReportsQuery) {}

  /** Lists the newest 100 settlement reports that acquirers have announced. */
  @Get()
  async list(): Promise<{ reports: readonly SettlementReportView[] }> {
    return { reports: await this.reports.list() };
  }

  /**
   * Lists the newest 100 lines that no movement of this service matches. With `reportId`: those of one report.
   *
   * @throws request.invalid
   */
  @Get('unmatched')
  async listUnmatched(@Query('reportId') reportId: unknown): Promise<{ lines: readonly UnmatchedLineView[] }> {
    if (reportId !== undefined && !isUuid(reportId)) throw invalidField('reportId', 'reportId must be a UUID');
    return { lines: await this.reports.listUnmatched(reportId) };
  }
}
