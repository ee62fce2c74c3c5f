import { Controller, Get, Inject, Param, Query, Req, Res, type StreamableFile, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import type { SettlementStatement } from '@svc/contracts';
import { invalidField, isNumericId } from '@svc/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { statementResponse } from './settlement-response.js';
import { SettlementStatements } from './settlement-statements.js';

/**
 * Settlement statements of all merchants, for administrators. Needs `x-admin-key`.
 *
 * @group Settlements
 */
@Controller('admin/v1/settlements')
@UseGuards(AdminKeyGuard)
export class AdminSettlementsController {
  constructor(@Inject(SettlementStatements) private readonly statements: SettlementStatements) {}

  /**
   * Reads a merchant's settlement statement of a day, as the merchant's own key does.
   *
   * @query merchantId required
   * @query mode required
   * @produces text/csv The movements; the sum of their amounts is `net`.
   * @throws request.invalid
   * @throws request.not-acceptable
   */
  @Get(':day')
  async read(
    @Param('day') day: string,
    @Query('merchantId') merchantId: unknown,
    @Query('mode') mode: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SettlementStatement | StreamableFile> {
    if (!isNumericId(merchantId)) throw invalidField('merchantId', 'merchantId must be a number, given once');
    if (mode !== 'test' && mode !== 'live') throw invalidField('mode', 'mode must be test or live');
    const owner = { merchantId: Number(merchantId), mode, siteId: undefined } as const;
    return statementResponse(this.statements, { owner, day }, request, reply);
  }
}
