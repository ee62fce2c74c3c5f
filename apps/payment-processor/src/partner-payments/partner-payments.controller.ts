import { Body, Controller, Header, HttpStatus, Inject, Post, Res } from '@nestjs/common';
import { type AuthenticatedPartner, ForPartners, Partner } from '@svc/auth';
import { historyItemOf, type PaymentHistoryItem, shownPaymentOf } from '@svc/contracts';
import type { FastifyReply } from 'fastify';
import { MakePayment } from './make-payment.js';

/** Payments by partners and their customers (P6). `x-api-key` and an identity token; errors are RFC 9457 (C5). */
@Controller('v1/payments')
@ForPartners('payments:write')
export class PartnerPaymentsController {
  constructor(@Inject(MakePayment) private readonly makePayment: MakePayment) {}

  /**
   * 201 with the payment: `success`, `failed`, or `verificationRequired` with `verificationUrl`; 202 while it is
   * `processing` after 20 s; 200 with `Idempotency-Replayed` for a repeat of the reference.
   *
   * Refused before anything is charged or recorded: 400 names all wrong fields; 401, empty; 403 for another customer, vouchers
   * and external payments without a grant, or a card with a live key where no acquirer takes live payments; 404 nothing to pay (21), or no such card; 409 closed or paid (20), a payment in
   * progress (23, with Retry-After), or the reference with another content (40); 410 expired (20); 422 another amount (22),
   * or what the merchant does not accept (40); 503 with Retry-After.
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
    return historyItemOf(shownPaymentOf(payment));
  }
}
