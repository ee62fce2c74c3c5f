import { Controller, Get, Inject, Param, Query, Req, Res, type StreamableFile, UseGuards } from '@nestjs/common';
import { type AuthenticatedMerchant, CallingMerchant, MerchantKeyGuard } from '@svc/auth';
import type { SettlementStatement } from '@svc/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { statementResponse } from './settlement-response.js';
import { SettlementStatements } from './settlement-statements.js';

/** Settlement statements of a merchant, with the API key of the merchant or of a site. Errors are RFC 9457 (C5). */
@Controller('business/api/v1/merchants/:merchantId/settlements')
@UseGuards(MerchantKeyGuard)
export class SettlementsController {
  constructor(@Inject(SettlementStatements) private readonly statements: SettlementStatements) {}

  /**
   * Reads the merchant's settlement statement of a day of its time zone. The API key determines the mode and, for a
   * site's key, the site. With `Accept: text/csv` the response contains the single movements.
   *
   * @produces text/csv The movements; the sum of their amounts is `net`.
   * @throws request.invalid The day is not a date, or has not begun.
   * @throws request.not-acceptable
   * @throws resource.not-found The merchant has no such site.
   */
  @Get(':day')
  read(
    @CallingMerchant() merchant: AuthenticatedMerchant,
    @Param('day') day: string,
    @Query('siteId') siteId: unknown,
    @Query('bom') bom: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SettlementStatement | StreamableFile> {
    return statementResponse(this.statements, { owner: merchant, days: { day }, siteId, bom }, request, reply);
  }

  /**
   * Reads the merchant's settlement statement of several days, at most 366, for example of a month. Otherwise as the
   * statement of one day.
   *
   * @query from required
   * @produces text/csv The movements; the sum of their amounts is `net`.
   * @throws request.invalid A day is not a date or has not begun, or there are too many days.
   * @throws request.not-acceptable
   * @throws resource.not-found The merchant has no such site.
   */
  @Get()
  readRange(
    @CallingMerchant() merchant: AuthenticatedMerchant,
    @Query('from') from: unknown,
    @Query('to') to: unknown,
    @Query('siteId') siteId: unknown,
    @Query('bom') bom: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SettlementStatement | StreamableFile> {
    return statementResponse(this.statements, { owner: merchant, days: { from, to }, siteId, bom }, request, reply);
  }
}
