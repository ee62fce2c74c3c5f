import { Controller, Get, Inject, Param, Query, UseGuards } from '@nestjs/common';
import type { AuthenticatedSite } from '@svc/auth';
import {
  buildHostedPayment,
  type HostedPayment,
  type HostedPaymentList,
  isFinal,
  isFullSnapshot,
} from '@svc/contracts';
import { DomainError, invalidField, parsePaymentReference } from '@svc/kernel';
import { RefreshPayments } from '../pay/payables/refresh-payments.js';
import { KeylessRateLimitGuard } from '../sessions/keyless-rate-limit.guard.js';
import { SessionRepository } from '../sessions/session.repository.js';
import { CallingSite, SiteGuard } from '../sessions/site.guard.js';

/** Payments of a merchant's sessions (H3). */
@Controller(['api/v3.1/payments', 'api/v3/payments'])
@UseGuards(SiteGuard, KeylessRateLimitGuard)
export class PaymentsController {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(RefreshPayments) private readonly refreshPayments: RefreshPayments,
  ) {}

  /**
   * Lists the final payments of a session, including failed ones (H3).
   *
   * @query sessionId required
   * @throws request.invalid
   * @throws resource.not-found The site has no such session.
   */
  @Get()
  async list(
    @CallingSite() site: AuthenticatedSite,
    @Query('sessionId') sessionId: unknown,
  ): Promise<HostedPaymentList> {
    if (typeof sessionId !== 'string' || sessionId === '') throw invalidField('sessionId', 'sessionId is required');
    const { payments } = await this.refreshPayments.refresh(await this.sessions.getOwned(site, sessionId));
    return {
      payments: payments.filter(isFullSnapshot).filter(isFinal).map(buildHostedPayment),
      status: 'Success',
      errors: [],
    };
  }

  /**
   * Reads one final payment of a session (H3).
   *
   * @throws resource.not-found The site has no such payment, or it is not final yet.
   */
  @Get(':paymentReference')
  async get(@CallingSite() site: AuthenticatedSite, @Param('paymentReference') text: string): Promise<HostedPayment> {
    const paymentReference = parsePaymentReference(text);
    let payment = paymentReference && (await this.sessions.findPayment(site, paymentReference));
    if (payment && !isFinal(payment) && (await this.refreshPayments.refreshPayment(payment)))
      payment = await this.sessions.findPayment(site, payment.paymentReference);
    if (!payment || !isFullSnapshot(payment) || !isFinal(payment))
      throw new DomainError('resource.not-found', {
        message: 'There is no such payment of this merchant, site and mode (test or live).',
      });
    return buildHostedPayment(payment);
  }
}
