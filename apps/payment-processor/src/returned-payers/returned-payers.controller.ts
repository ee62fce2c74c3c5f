import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import { parsePaymentReference } from '@svc/kernel';
import { sendPlainPage } from '@svc/service';
import type { FastifyReply } from 'fastify';
import { CheckPayments } from '../jobs/check-payments.js';
import { PartnerPaymentRepository } from '../partner-payments/partner-payment.repository.js';
import { RETURNED_PAYER_TEXT } from './returned-payer-text.js';

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
    await sendPlainPage(reply, state === 'unknown' ? 404 : 200, RETURNED_PAYER_TEXT[state]);
  }
}
