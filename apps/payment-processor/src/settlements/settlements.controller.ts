import { Controller, Get, Inject, Param, Req, Res, type StreamableFile, UseGuards } from '@nestjs/common';
import { type AuthenticatedMerchant, CallingMerchant, MerchantKeyGuard } from '@svc/auth';
import type { SettlementStatement } from '@svc/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerStatement } from './settlement-answer.js';
import { SettlementStatements } from './settlement-statements.js';

/** What a merchant is owed for a day, by the key of the merchant or of a site; errors are RFC 9457 (C5). */
@Controller('business/api/v1/merchants/:merchantId/settlements')
@UseGuards(MerchantKeyGuard)
export class SettlementsController {
  constructor(@Inject(SettlementStatements) private readonly statements: SettlementStatements) {}

  /**
   * `:day` is a UTC date, `YYYY-MM-DD`; mode and, with a site's key, the site are those of the key. JSON
   * ({@link SettlementStatement}) or, with `Accept: text/csv`, the movements one by one.
   *
   * 400 for a day that is no date or has not begun; 401, empty; 403 for another merchant; 406 for another form.
   */
  @Get(':day')
  read(
    @CallingMerchant() merchant: AuthenticatedMerchant,
    @Param('day') day: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SettlementStatement | StreamableFile> {
    return answerStatement(this.statements, { owner: merchant, day }, request, reply);
  }
}
