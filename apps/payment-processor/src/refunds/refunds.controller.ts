import {
  Body,
  Controller,
  Get,
  Header,
  Headers,
  HttpStatus,
  Inject,
  Post,
  Query,
  Res,
  UseGuards,
} from '@nestjs/common';
import { type AuthenticatedMerchant, CallingMerchant, MerchantKeyGuard } from '@svc/auth';
import { CreateRefundRequest, isText, MAX_IDENTIFIER_LENGTH, type RefundResponse } from '@svc/contracts';
import { invalidField } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import { parseSvcId } from '../svc-id.js';
import { CreateRefund } from './create-refund.js';

/** Refunds of a merchant's payments (M5), with the API key of the merchant or of a site. Errors are RFC 9457 (C5). */
@Controller('business/api/v1/merchants/:merchantId/refunds')
@UseGuards(MerchantKeyGuard)
export class RefundsController {
  constructor(@Inject(CreateRefund) private readonly createRefund: CreateRefund) {}

  /**
   * Refunds a payment in full or in part (M5). An error response means that no refund was created.
   *
   * @query svcId required
   * @returns 201 The refund, `succeeded` or `failed`.
   * @returns 202 The refund is still `pending` after 20 s. Its amount is reserved.
   * @returns 200 The response to a retry with the same key: the refund in its current state, with the header
   *   `Idempotency-Replayed`.
   * @throws resource.not-found The payment is unknown, in another mode, or of another site than the site of the API
   *   key.
   * @throws request.idempotency-conflict The key was used before with different content.
   * @throws refund.in-progress
   * @throws refund.not-possible
   * @throws refund.amount-exceeded
   */
  @Post()
  @Header('cache-control', 'no-store')
  async create(
    @CallingMerchant() merchant: AuthenticatedMerchant,
    @Query('svcId') svcId: unknown,
    @Headers('idempotency-key') idempotencyKey: unknown,
    @Body() request: CreateRefundRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RefundResponse> {
    if (!isText(idempotencyKey, MAX_IDENTIFIER_LENGTH))
      throw invalidField(
        'Idempotency-Key',
        `The header Idempotency-Key is required, with 1 to ${MAX_IDENTIFIER_LENGTH} characters`,
      );
    const call = { svcId: parseSvcId(svcId), idempotencyKey, request };
    const { refund, replayed } = await this.createRefund.execute(merchant, call);
    if (replayed) reply.header('idempotency-replayed', 'true').status(HttpStatus.OK);
    else reply.status(refund.status === 'pending' ? HttpStatus.ACCEPTED : HttpStatus.CREATED);
    return refund;
  }

  /**
   * Lists the refunds of one payment, newest first, at most 1 000.
   *
   * @query svcId required
   * @returns 200 The refunds; `[]` for a payment without refunds.
   * @throws resource.not-found The payment is unknown, in another mode, or of another site than the site of the API
   *   key.
   */
  @Get()
  @Header('cache-control', 'no-store')
  list(@CallingMerchant() merchant: AuthenticatedMerchant, @Query('svcId') svcId: unknown): Promise<RefundResponse[]> {
    return this.createRefund.list(merchant, parseSvcId(svcId));
  }
}
