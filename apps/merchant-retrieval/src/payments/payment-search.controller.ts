import { Controller, Get, Header, Inject, Query, Res, UseGuards } from '@nestjs/common';
import { type AuthenticatedMerchant, CallingMerchant, MerchantKeyGuard } from '@svc/auth';
import { isText, MAX_IDENTIFIER_LENGTH, type MerchantPayment } from '@svc/contracts';
import type { FastifyReply } from 'fastify';
import { KeyLimitGuard } from '../limits/key-limit.guard.js';
import { PaymentRepository } from './payment.repository.js';
import { linkToNextPage, parseSearch } from './payment-search.js';

/**
 * Lets merchants search the payments of an order in the last three months (M9). The key of a site finds only payments
 * of its site.
 *
 * @group Payments
 */
@Controller('business/api/v1/merchants/:merchantId/payment-search')
@UseGuards(MerchantKeyGuard, KeyLimitGuard)
export class PaymentSearchController {
  constructor(@Inject(PaymentRepository) private readonly payments: PaymentRepository) {}

  /**
   * Searches the payments of an order in the last three months, the newest first, at most 100 (M9). If there are more,
   * the header `Link` leads to the next page.
   *
   * @query orderId required
   * @returns 200 The payments. If there are more, the header `Link` with `rel="next"` contains the address of the next
   *   page, relative to this one.
   * @throws request.invalid
   */
  @Get()
  @Header('cache-control', 'no-store')
  async find(
    @CallingMerchant() merchant: AuthenticatedMerchant,
    @Query('orderId') orderId: unknown,
    @Query('from') from: unknown,
    @Query('to') to: unknown,
    @Query('after') after: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<MerchantPayment[]> {
    const search = parseSearch({ orderId, from, to, after });
    // If the text is invalid, no order can have it as its reference, so the database is not queried.
    if (!isText(search.orderId, MAX_IDENTIFIER_LENGTH)) return [];
    const { payments, hasMore } = await this.payments.search(merchant, search);
    const last = payments.at(-1);
    if (hasMore && last !== undefined) {
      const { paymentReference } = last;
      const cursor = { paymentUTCDate: new Date(last.paymentUTCDate), paymentReference };
      reply.header('link', linkToNextPage({ orderId, from, to, after }, cursor));
    }
    return payments;
  }
}
