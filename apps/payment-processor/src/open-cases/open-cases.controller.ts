import { Controller, Get, Inject, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { invalidField } from '@svc/kernel';
import { OPEN_CASE_KINDS, type OpenCase, type OpenCaseKind, OpenCasesQuery } from './open-cases.query.js';

/** The payments about which the platform and an acquirer do not agree, for administrators. Needs `x-admin-key`. */
@Controller('admin/v1/open-cases')
@UseGuards(AdminKeyGuard)
export class OpenCasesController {
  constructor(@Inject(OpenCasesQuery) private readonly cases: OpenCasesQuery) {}

  /**
   * Lists at most 100 cases of each kind, or of one `kind`: unknown outcomes, reversals and captures without a confirmation,
   * and contradicting responses and reports of acquirers.
   *
   * @throws request.invalid
   */
  @Get()
  async list(@Query('kind') kind?: string): Promise<{ cases: readonly OpenCase[] }> {
    if (kind === undefined) return { cases: await this.cases.list(OPEN_CASE_KINDS) };
    if (!OPEN_CASE_KINDS.includes(kind as OpenCaseKind))
      throw invalidField('kind', `kind must be one of ${OPEN_CASE_KINDS.join(', ')}`);
    return { cases: await this.cases.list([kind as OpenCaseKind]) };
  }
}
