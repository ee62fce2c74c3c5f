import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import { parsePaymentReference } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import { CheckPayments } from '../jobs/check-payments.js';
import { PartnerPaymentRepository } from './partner-payment.repository.js';
import { RETURNED_PAGE_CONTENT_SECURITY_POLICY, returnedPage } from './returned-page.js';

/**
 * The bank redirects the payer of a partner's payment here, unless the partner named a page of its own. The payment's reference
 * is enough to open the page: it shows only the state, and opening it continues the payment.
 *
 * @group Payments
 */
@Controller('v1/verifications')
export class ReturnedPayersController {
  constructor(
    @Inject(PartnerPaymentRepository) private readonly payments: PartnerPaymentRepository,
    @Inject(CheckPayments) private readonly checkPayments: CheckPayments,
  ) {}

  /**
   * Shows the page to which a bank redirects the payer after a verification.
   *
   * @produces text/html The page.
   * @returns 200 The state of the payment.
   * @returns 404 The page says that there is no such payment.
   */
  @Get(':paymentReference')
  async returned(@Param('paymentReference') text: string, @Res() reply: FastifyReply): Promise<void> {
    const reference = parsePaymentReference(text);
    const payable = reference && (await this.payments.findReturned(reference));
    const found = payable ? await this.checkPayments.execute(payable.payableId) : [];
    const state = found.find(({ paymentReference }) => paymentReference === reference)?.state ?? 'unknown';
    await reply
      .status(state === 'unknown' ? 404 : 200)
      .headers({ 'content-security-policy': RETURNED_PAGE_CONTENT_SECURITY_POLICY, 'cache-control': 'no-store' })
      .type('text/html; charset=utf-8')
      .send(returnedPage(state));
  }
}
