import { Controller, Get, Inject, Param, Req, Res, type StreamableFile, UseGuards } from '@nestjs/common';
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
   * Reads the merchant's settlement statement of a day. The API key determines the mode and, for a site's key, the
   * site. With `Accept: text/csv` the response contains the single movements.
   *
   * @produces text/csv The movements; the sum of their amounts is `net`.
   * @throws request.invalid The day is not a date, or has not begun.
   * @throws request.not-acceptable
   */
  @Get(':day')
  read(
    @CallingMerchant() merchant: AuthenticatedMerchant,
    @Param('day') day: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SettlementStatement | StreamableFile> {
    return statementResponse(this.statements, { owner: merchant, day }, request, reply);
  }
}
