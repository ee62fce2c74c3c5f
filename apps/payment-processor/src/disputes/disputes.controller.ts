import { Controller, Get, Header, Inject, Query, UseGuards } from '@nestjs/common';
import { type AuthenticatedMerchant, CallingMerchant, MerchantKeyGuard } from '@svc/auth';
import type { DisputeResponse } from '@svc/contracts';
import { parsePaymentReference } from '@svc/kernel';
import { parseSvcId, paymentNotFoundError } from '../svc-id.js';
import { ListDisputesQuery } from './list-disputes.query.js';

/** Disputes of a merchant's payments (M8), with the API key of the merchant or of a site. Errors are RFC 9457 (C5). */
@Controller('business/api/v1/merchants/:merchantId/disputes')
@UseGuards(MerchantKeyGuard)
export class DisputesController {
  constructor(@Inject(ListDisputesQuery) private readonly disputes: ListDisputesQuery) {}

  /**
   * Lists the disputes of one payment, newest first, at most 1 000. A merchant responds to a dispute in the acquirer's
   * own customer area.
   *
   * @query svcId required
   * @returns 200 The disputes; `[]` for a payment without disputes.
   * @throws resource.not-found The payment is unknown, in another mode, or of another site than the site of the API
   *   key.
   */
  @Get()
  @Header('cache-control', 'no-store')
  async list(
    @CallingMerchant() merchant: AuthenticatedMerchant,
    @Query('svcId') svcId: unknown,
  ): Promise<DisputeResponse[]> {
    const paymentReference = parsePaymentReference(parseSvcId(svcId));
    const disputes = paymentReference === undefined ? undefined : await this.disputes.list(merchant, paymentReference);
    if (!disputes) throw paymentNotFoundError();
    return disputes;
  }
}
