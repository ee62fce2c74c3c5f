import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import { parsePaymentReference } from '@svc/kernel';
import { sendPlainPage } from '@svc/service';
import type { FastifyReply } from 'fastify';
import { CheckPayments } from '../jobs/check-payments.js';
import { PartnerPaymentRepository } from '../partner-payments/partner-payment.repository.js';
import { RETURNED_PAYER_TEXT } from './returned-payer-text.js';

/**
 * The page to which the bank redirects the payer of a partner's payment, unless the partner has set another return
 * page. The page needs no authentication besides the payment's reference, because it shows only the state. Opening the
 * page continues the payment.
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
   * @returns 404 A page for an unknown payment.
   */
  @Get(':paymentReference')
  async returned(@Param('paymentReference') paymentReferenceText: string, @Res() reply: FastifyReply): Promise<void> {
    const reference = parsePaymentReference(paymentReferenceText);
    const payable = reference && (await this.payments.findPayableOfPayment(reference));
    const payments = payable ? await this.checkPayments.execute(payable.payableId) : [];
    const state = payments.find(({ paymentReference }) => paymentReference === reference)?.state ?? 'unknown';
    await sendPlainPage(reply, state === 'unknown' ? 404 : 200, RETURNED_PAYER_TEXT[state]);
  }
}
