import { Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import { isText } from '@svc/contracts';
import { parsePaymentReference } from '@svc/kernel';
import { sendPlainPage } from '@svc/service';
import type { FastifyReply } from 'fastify';
import { MAX_VERIFICATION_RESULT_LENGTH, VERIFICATION_RESULT_PARAMETER } from '../acquirers/acquirer.js';
import { CheckPayments } from '../jobs/check-payments.js';
import { PartnerPaymentRepository } from '../partner-payments/partner-payment.repository.js';
import { BankReturnUrls } from '../payer-urls/bank-return-urls.js';
import { VerificationRepository } from '../verifications/verification.repository.js';
import { RETURNED_PAYER_TEXT } from './returned-payer-text.js';

/**
 * The address to which banks redirect payers. A URL with the signature of this service stores the bank's result, and
 * forwards the payer to the page of the shop or partner. Without such a page, and for a URL without a signature, it shows
 * the state of a partner's payment. That needs no authentication besides the payment's reference, because it shows only
 * the state. Opening the page continues the payment.
 *
 * @group Payments
 */
@Controller('v1/verifications')
export class ReturnedPayersController {
  constructor(
    @Inject(PartnerPaymentRepository) private readonly payments: PartnerPaymentRepository,
    @Inject(VerificationRepository) private readonly verifications: VerificationRepository,
    @Inject(CheckPayments) private readonly checkPayments: CheckPayments,
    @Inject(BankReturnUrls) private readonly returnUrls: BankReturnUrls,
  ) {}

  /**
   * Receives a payer whom a bank redirects after a verification.
   *
   * @produces text/html The page.
   * @returns 200 The state of the payment.
   * @returns 303 Forwards the payer to the page of the shop or partner.
   * @returns 404 A page for an unknown payment, and for a URL that this service has not signed.
   */
  @Get(':paymentReference')
  async returned(
    @Param('paymentReference') paymentReferenceText: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const reference = parsePaymentReference(paymentReferenceText);
    const { to, signature, [VERIFICATION_RESULT_PARAMETER]: result } = query;
    const bankReturn = reference === undefined ? undefined : this.returnUrls.verify(reference, to, signature);
    if (reference !== undefined && bankReturn && isText(result, MAX_VERIFICATION_RESULT_LENGTH))
      await this.verifications.storeResult(reference, result);
    if (bankReturn?.payerReturnUrl !== undefined) return void reply.redirect(bankReturn.payerReturnUrl, 303);
    if (to !== undefined) return sendPlainPage(reply, 404, RETURNED_PAYER_TEXT.unknown);
    const payable = reference && (await this.payments.findPayableOfPayment(reference));
    const payments = payable ? await this.checkPayments.execute(payable.payableId) : [];
    const state = payments.find(({ paymentReference }) => paymentReference === reference)?.state ?? 'unknown';
    await sendPlainPage(reply, state === 'unknown' ? 404 : 200, RETURNED_PAYER_TEXT[state]);
  }
}
