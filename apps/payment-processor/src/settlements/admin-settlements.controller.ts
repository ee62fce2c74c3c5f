import { Controller, Get, Inject, Param, Query, Req, Res, type StreamableFile, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import type { SettlementStatement } from '@svc/contracts';
import { invalidField, isNumericId } from '@svc/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SettlementOwner } from './settlement.repository.ts';
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
   * Reads a merchant's settlement statement of a day of its time zone, as the merchant's own key does.
   *
   * @query merchantId required
   * @query mode required
   * @produces text/csv The movements; the sum of their amounts is `net`.
   * @throws request.invalid
   * @throws request.not-acceptable
   * @throws resource.not-found The merchant has no such site.
   */
  @Get(':day')
  async read(
    @Param('day') day: string,
    @Query('merchantId') merchantId: unknown,
    @Query('mode') mode: unknown,
    @Query('siteId') siteId: unknown,
    @Query('bom') bom: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SettlementStatement | StreamableFile> {
    const owner = parseOwner(merchantId, mode);
    return statementResponse(this.statements, { owner, days: { day }, siteId, bom }, request, reply);
  }

  /**
   * Reads a merchant's settlement statement of several days, at most 366, as the merchant's own key does.
   *
   * @query merchantId required
   * @query mode required
   * @query from required
   * @produces text/csv The movements; the sum of their amounts is `net`.
   * @throws request.invalid
   * @throws request.not-acceptable
   * @throws resource.not-found The merchant has no such site.
   */
  @Get()
  async readRange(
    @Query('merchantId') merchantId: unknown,
    @Query('mode') mode: unknown,
    @Query('from') from: unknown,
    @Query('to') to: unknown,
    @Query('siteId') siteId: unknown,
    @Query('bom') bom: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SettlementStatement | StreamableFile> {
    const owner = parseOwner(merchantId, mode);
    return statementResponse(this.statements, { owner, days: { from, to }, siteId, bom }, request, reply);
  }
}

function parseOwner(merchantId: unknown, mode: unknown): SettlementOwner {
  if (!isNumericId(merchantId)) throw invalidField('merchantId', 'merchantId must be a number, given once');
  if (mode !== 'test' && mode !== 'live') throw invalidField('mode', 'mode must be test or live');
  return { merchantId: Number(merchantId), mode, siteId: undefined };
}
