import { Controller, Inject } from '@nestjs/common';
import { type CreateRefund as CreateRefundCommand, CreateRefundV1, type RefundResponse } from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { CreateRefund } from './create-refund.js';

/** Refunds by people of the merchant, in the console (M5). */
@Controller()
export class RefundsConsumer {
  constructor(@Inject(CreateRefund) private readonly createRefund: CreateRefund) {}

  @MessagePattern(CreateRefundV1)
  async create({
    merchantId,
    siteId,
    mode,
    svcId,
    idempotencyKey,
    personId,
    amount,
    maxRefundedAmount,
    reason,
  }: CreateRefundCommand): Promise<RefundResponse> {
    const person = { keyId: personId, merchantId, siteId, mode, siteExists: true };
    const request = { amount, ...(reason === undefined ? {} : { reason }) };
    const { refund } = await this.createRefund.execute(person, { svcId, idempotencyKey, request, maxRefundedAmount });
    return refund;
  }
}
