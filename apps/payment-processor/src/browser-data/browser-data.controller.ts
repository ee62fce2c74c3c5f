import { setTimeout as pause } from 'node:timers/promises';
import { Controller, Get, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { ErrorCode } from '@svc/contracts';
import { parsePaymentReference } from '@svc/kernel';
import { FormBody, readFormBodies, readPayerContext, sendPlainPage } from '@svc/service';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CheckPayments } from '../jobs/check-payments.js';
import { amountToProcess } from '../payables/amount-to-process.js';
import { BrowserDataUrls } from '../payer-urls/browser-data-urls.js';
import { RETURNED_PAYER_TEXT } from '../returned-payers/returned-payer-text.js';
import { type PayerVerification, VerificationRepository } from '../verifications/verification.repository.js';
import { sendBrowserDataPage } from './browser-data-page.js';
import { ChargeWithBrowserData } from './charge-with-browser-data.js';

/** The form has one field with a few numbers. */
const MAX_FORM_BYTES = 4 * 1024;
/** For the outcome of a charge: of another request, such as the first of two clicks, or of a lost response. */
const MAX_POLLS = 10;
const POLL_INTERVAL_MS = 500;

/** Texts for payers whose payment can be tried again. They are constants, because the page does not escape them. */
const PROBLEMS: Readonly<Partial<Record<ErrorCode, string>>> = {
  'payment.in-progress': 'Another payment for this purchase is in progress. Wait a moment, then try again.',
  'acquirer.unavailable': 'The bank cannot be reached. Nothing was charged. Wait a moment, then try again.',
};

/**
 * Our page that the payer of a partner's payment opens, if the acquirer needs the data of the browser. The payment's
 * `verificationUrl` leads here. Opening the page changes nothing at the bank, so that a preview of the link is harmless.
 * The form charges.
 *
 * @group Payments
 */
@Controller('v1/verifications/:paymentReference/start')
export class BrowserDataController {
  constructor(
    @Inject(VerificationRepository) private readonly verifications: VerificationRepository,
    @Inject(CheckPayments) private readonly checkPayments: CheckPayments,
    @Inject(ChargeWithBrowserData) private readonly chargeWithBrowserData: ChargeWithBrowserData,
    @Inject(BrowserDataUrls) private readonly urls: BrowserDataUrls,
    @Inject(HttpAdapterHost) { httpAdapter }: HttpAdapterHost,
  ) {
    readFormBodies(httpAdapter.getInstance<FastifyInstance>(), MAX_FORM_BYTES);
  }

  /**
   * Shows the payer the merchant and the amount.
   *
   * @produces text/html The page.
   * @returns 200 The page, or the state of the payment.
   * @returns 303 Forwards the payer to the bank's page, or to the page of the partner.
   * @returns 404 A page for a URL that this service has not signed.
   */
  @Get()
  async show(
    @Param('paymentReference') paymentReferenceText: string,
    @Query('signature') signature: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const found = await this.find(paymentReferenceText, signature);
    if (!found) return sendPlainPage(reply, 404, RETURNED_PAYER_TEXT.unknown);
    // Fails the payment if it is too late, or if the payable was paid or closed meanwhile; looks for a missing outcome.
    await this.checkPayments.execute(found.payment.payable.payableId);
    await this.forward(reply, await this.awaitOutcome(found, 1));
  }

  /**
   * Charges the card. The bank gets the data of the payer's browser: the IP address and two headers of the request, and
   * the field `browser` of the form, as JSON. A repeat charges nothing.
   *
   * @produces text/html The page.
   * @returns 200 The state of the payment.
   * @returns 303 Forwards the payer to the bank's page, or to the page of the partner.
   * @returns 404 A page for a URL that this service has not signed.
   * @returns 503 The page again, because the payment could not be tried.
   */
  @Post()
  async charge(
    @Param('paymentReference') paymentReferenceText: string,
    @Query('signature') signature: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const found = await this.find(paymentReferenceText, signature);
    if (!found) return sendPlainPage(reply, 404, RETURNED_PAYER_TEXT.unknown);
    const payer = readPayerContext(request, readBrowserField(request.body));
    const problem = await this.chargeWithBrowserData.execute(found.payment.paymentReference, payer);
    await this.forward(reply, await this.awaitOutcome(found, MAX_POLLS), problem);
  }

  private async find(paymentReferenceText: string, signature: unknown): Promise<PayerVerification | undefined> {
    const reference = parsePaymentReference(paymentReferenceText);
    if (reference === undefined || !this.urls.verify(reference, signature)) return undefined;
    return this.verifications.findForPayer(reference);
  }

  /** Reads the payment again, at most `polls` times while it is `processing`. */
  private async awaitOutcome(found: PayerVerification, polls: number): Promise<PayerVerification> {
    let current = found;
    for (let poll = 1; poll <= polls; poll++) {
      if (poll > 1) await pause(POLL_INTERVAL_MS);
      current = (await this.verifications.findForPayer(found.payment.paymentReference)) ?? current;
      if (current.payment.state !== 'processing') break;
    }
    return current;
  }

  private async forward(
    reply: FastifyReply,
    { payment, verification, payerReturnUrl }: PayerVerification,
    problem?: ErrorCode,
  ): Promise<void> {
    if (payment.state === 'verificationRequired') {
      if (!verification) {
        const { merchantName, currencyISOCode } = payment;
        const page = { merchantName, amount: amountToProcess(payment), currencyISOCode };
        return problem === undefined
          ? sendBrowserDataPage(reply, 200, page)
          : sendBrowserDataPage(reply, 503, { ...page, problem: PROBLEMS[problem] });
      }
      // Until the payer returns from the bank, also after a reload or from another tab.
      if (verification.result === undefined) return void reply.redirect(payment.verificationUrl!, 303);
    }
    if (payerReturnUrl !== undefined) return void reply.redirect(payerReturnUrl, 303);
    await sendPlainPage(reply, 200, RETURNED_PAYER_TEXT[payment.state]);
  }
}

/** The data from the page's script; undefined if the browser has no script. {@link readPayerContext} checks the fields. */
function readBrowserField(body: unknown): unknown {
  try {
    return body instanceof FormBody ? (JSON.parse(body.fields['browser'] ?? '') as unknown) : undefined;
  } catch {
    return undefined;
  }
}
