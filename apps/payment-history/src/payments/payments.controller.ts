import { Controller, Get, Header, Inject, Param, Query, Req, Res } from '@nestjs/common';
import { type AuthenticatedPartner, ForPartners, Partner } from '@svc/auth';
import { buildHistoryItem, buildSinglePayment, type PaymentHistory, type SinglePayment } from '@svc/contracts';
import { parsePaymentReference } from '@svc/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pageLinks, readPageRequest } from './page.js';
import { PaymentRepository } from './payment.repository.js';
import { getPaymentOwner, narrowToCustomer } from './payment-owner.js';
import { PaymentPagesQuery } from './payment-pages.query.js';

/** Status and history of payments, for partners and their customers (P2, P5). */
@Controller('v1/payments')
@ForPartners('payments:read')
export class PaymentsController {
  constructor(
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(PaymentPagesQuery) private readonly pages: PaymentPagesQuery,
  ) {}

  /**
   * Reads one payment (P2).
   *
   * @returns 200 The payment. Its `status` is a number.
   * @returns 404 The caller has no such payment, or the reference is malformed (C3). The response is empty.
   */
  @Get(':paymentReference')
  @Header('cache-control', 'no-store')
  async get(
    @Partner() partner: AuthenticatedPartner,
    @Param('paymentReference') text: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SinglePayment | undefined> {
    const reference = parsePaymentReference(text);
    const payment =
      reference === undefined ? undefined : await this.payments.findOwned(getPaymentOwner(partner), reference);
    if (payment) return buildSinglePayment(payment);
    reply.status(404);
    return undefined;
  }

  /**
   * Lists payments, the newest first (P5). With a service token, the list contains all payments of the partner. With a
   * customer token, it contains only the payments of this customer.
   *
   * @query customerReference
   * @query page
   * @query pageSize
   * @returns 200 A page. Its links are relative and keep every parameter.
   * @returns 204 There are no payments: the history is empty, the page is past the end, or `customerReference` is that
   *   of another customer.
   * @throws request.invalid
   */
  @Get()
  @Header('cache-control', 'no-store')
  async list(
    @Partner() partner: AuthenticatedPartner,
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PaymentHistory | undefined> {
    const { page, pageSize, customerReference } = readPageRequest(query);
    const owner = narrowToCustomer(getPaymentOwner(partner), customerReference);
    // One payment more than the page size is read. It shows whether there is a next page.
    const payments = owner ? await this.pages.find(owner, (page - 1) * pageSize, pageSize + 1) : [];
    if (payments.length === 0) {
      reply.status(204);
      return undefined;
    }
    return {
      payments: payments.slice(0, pageSize).map(buildHistoryItem),
      ...pageLinks(request.url, page, payments.length > pageSize),
    };
  }
}
