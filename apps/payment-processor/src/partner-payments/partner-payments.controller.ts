import { Body, Controller, Header, HttpStatus, Inject, Post, Res } from '@nestjs/common';
import { type AuthenticatedPartner, ForPartners, Partner } from '@svc/auth';
import { buildHistoryItem, buildPaymentView, type PaymentHistoryItem } from '@svc/contracts';
import type { FastifyReply } from 'fastify';
import { MakePayment } from './make-payment.js';

/**
 * Payments by partners and their customers (P6). Needs `x-api-key` and an identity token. Errors are RFC 9457 (C5).
 *
 * @group Payments
 */
@Controller('v1/payments')
@ForPartners('payments:write')
export class PartnerPaymentsController {
  constructor(@Inject(MakePayment) private readonly makePayment: MakePayment) {}

  /**
   * Makes a payment (P6). An error response means that nothing was charged and no payment was recorded.
   *
   * @body MakePaymentRequest
   * @returns 201 The payment: `success`, `failed` with its errors, or `verificationRequired` with `verificationUrl`.
   * @returns 202 The payment is still `processing` after 20 s. The client reads it later, or retries the call.
   * @returns 200 The response to a retry with the same reference: the payment in its current state, with the header
   *   `Idempotency-Replayed`.
   * @throws credentials.forbidden The request names another customer than the token, or has vouchers or an external
   *   payment without a grant of the merchant.
   * @throws live-mode.unavailable
   * @throws payable.not-found
   * @throws resource.not-found The payer has no such card.
   * @throws payable.closed
   * @throws payable.paid
   * @throws payable.refused
   * @throws payable.expired
   * @throws payment.in-progress
   * @throws request.idempotency-conflict The reference was used before with different content.
   * @throws payable.mismatch
   * @throws payment.not-accepted
   * @throws code.unsupported
   * @throws code.third-party
   * @throws card-key.not-in-use
   */
  @Post()
  @Header('cache-control', 'no-store')
  async make(
    @Partner() partner: AuthenticatedPartner,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PaymentHistoryItem> {
    const { payment, replayed } = await this.makePayment.execute(partner, body);
    if (replayed) reply.header('idempotency-replayed', 'true').status(HttpStatus.OK);
    else reply.status(payment.state === 'processing' ? HttpStatus.ACCEPTED : HttpStatus.CREATED);
    return buildHistoryItem(buildPaymentView(payment));
  }
}
