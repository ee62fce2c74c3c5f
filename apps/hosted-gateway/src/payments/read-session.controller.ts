import { Controller, Get, Inject, Param, UseGuards } from '@nestjs/common';
import type { AuthenticatedSite } from '@svc/auth';
import type { SessionResponse } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { HostedGatewayConfig } from '../config.js';
import { RefreshPayments } from '../pay/payables/refresh-payments.js';
import { KeylessRateLimitGuard } from '../sessions/keyless-rate-limit.guard.js';
import { buildRedirectUrl, determineSessionState } from '../sessions/session.js';
import { SessionRepository } from '../sessions/session.repository.js';
import { CallingSite, SiteGuard } from '../sessions/site.guard.js';

/**
 * Reads the state of a session and its order (an extension of H2).
 *
 * @group Sessions
 */
@Controller(['api/v3.1/sessions', 'api/v3/sessions'])
@UseGuards(SiteGuard, KeylessRateLimitGuard)
export class ReadSessionController {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(RefreshPayments) private readonly refreshPayments: RefreshPayments,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
  ) {}

  /**
   * Reads a session: its state, amount and order.
   *
   * @throws resource.not-found The site has no such session.
   */
  @Get(':sessionId')
  async get(@CallingSite() site: AuthenticatedSite, @Param('sessionId') id: string): Promise<SessionResponse> {
    const session = await this.refreshPayments.refresh(await this.sessions.getOwned(site, id));
    const { sessionId, requestId, merchantOrderId, amount, currencyISOCode } = session;
    return {
      sessionId,
      redirectUrl: buildRedirectUrl(session, this.config.SVC_GATEWAY_URL),
      sessionState: determineSessionState(session, this.clock.now()),
      requestId,
      merchantOrderId,
      amount,
      currencyISOCode,
      createdUTCDate: session.createdAt.toISOString(),
      expiresUTCDate: session.expiresAt.toISOString(),
      status: 'Success',
      errors: [],
    };
  }
}
