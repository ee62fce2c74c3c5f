import { Body, Controller, HttpCode, Inject, Post, UseGuards } from '@nestjs/common';
import { AccessGuard } from '../access/access.guard.js';
import type { Answer } from '../answers/answer.js';
import { RefundRequest } from '../baskets/requests.js';
import { TransformerSettings } from '../settings.js';
import { RefundPayment } from './refund-payment.js';

/**
 * `POST /SvcRefund` (T10).
 *
 * @group Facade
 */
@Controller()
@UseGuards(AccessGuard)
export class RefundsController {
  constructor(
    @Inject(RefundPayment) private readonly refundPayment: RefundPayment,
    @Inject(TransformerSettings) private readonly settings: TransformerSettings,
  ) {}

  /** Refunds a payment (T10). */
  @Post('SvcRefund')
  @HttpCode(200)
  refund(@Body() { SvcId, RefundAmount, RefundReference }: RefundRequest): Promise<Answer> {
    const call = { svcId: SvcId, amount: RefundAmount, reference: RefundReference ?? undefined };
    return this.refundPayment.execute(this.settings.facadeSiteId, call);
  }
}
