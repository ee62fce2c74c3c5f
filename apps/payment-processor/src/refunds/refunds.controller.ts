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
import { CreateRefund } from './create-refund.js';

/** Refunds of a merchant's payments (M5), by the key of the merchant or of a site; errors are RFC 9457 (C5). */
@Controller('business/api/v1/merchants/:merchantId/refunds')
@UseGuards(MerchantKeyGuard)
export class RefundsController {
  constructor(@Inject(CreateRefund) private readonly createRefund: CreateRefund) {}

  /**
   * 201 with the refund, `succeeded` or `failed`; 202 while it is `pending` after 20 s; 200 with `Idempotency-Replayed` for a
   * repeat of the key.
   *
   * Refused before anything is decided: 400 without an Idempotency-Key, or for a bad field; 401, empty; 403 for another
   * merchant; 404 for a payment that is unknown, of another mode, or of another site than the key's; 409 for the key with
   * another content, or, with Retry-After, while an equal call runs; 422 for a payment that cannot be refunded, or for more
   * than is left of it.
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
    const call = { svcId: svcIdOf(svcId), idempotencyKey, request };
    const { refund, replayed } = await this.createRefund.execute(merchant, call);
    if (replayed) reply.header('idempotency-replayed', 'true').status(HttpStatus.OK);
    else reply.status(refund.status === 'pending' ? HttpStatus.ACCEPTED : HttpStatus.CREATED);
    return refund;
  }

  /** Those of one payment, the newest first, at most 1 000; `[]` for a payment without any, 404 as above. */
  @Get()
  @Header('cache-control', 'no-store')
  list(@CallingMerchant() merchant: AuthenticatedMerchant, @Query('svcId') svcId: unknown): Promise<RefundResponse[]> {
    return this.createRefund.list(merchant, svcIdOf(svcId));
  }
}

/** What cannot be a reference is not found later (C3); what is missing or given twice is an error of the caller. */
function svcIdOf(svcId: unknown): string {
  if (typeof svcId !== 'string' || svcId === '') throw invalidField('svcId', 'svcId must be given once');
  return svcId;
}
