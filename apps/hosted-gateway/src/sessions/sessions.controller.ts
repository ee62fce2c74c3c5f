import { Body, Controller, Delete, HttpCode, Inject, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { AuthenticatedSite } from '@svc/auth';
import type { CreateSessionResponse, HostedApiVersion, HostedErrorResponse } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HostedGatewayConfig } from '../config.js';
import { CancelSession } from './cancel-session.js';
import { CreateSession } from './create-session.js';
import { KeylessRateLimitGuard } from './keyless-rate-limit.guard.js';
import { buildRedirectUrl, determineSessionState } from './session.js';
import { CallingSite, RequireApiKeyGuard, SiteGuard } from './site.guard.js';

/** Sessions: create, read and cancel (H1, H2, H5). */
@Controller(['api/v3.1/sessions', 'api/v3/sessions'])
@UseGuards(SiteGuard, KeylessRateLimitGuard)
export class SessionsController {
  constructor(
    @Inject(CreateSession) private readonly createSession: CreateSession,
    @Inject(CancelSession) private readonly cancelSession: CancelSession,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
  ) {}

  /**
   * Creates a session (H1, H2). Redirect the payer to `redirectUrl`. The session can be paid for 30 minutes.
   *
   * @body CreateSessionRequest
   * @returns 201 The session; with `Idempotency-Replayed` and `sessionState` if the requestId was used before (C7).
   * @throws request.invalid
   * @throws request.idempotency-conflict The requestId was used before with different content.
   * @throws webhook.no-signing-key
   * @throws live-mode.unavailable
   */
  @Post()
  async create(
    @CallingSite() site: AuthenticatedSite,
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CreateSessionResponse> {
    const { session, replayed, warnings } = await this.createSession.execute(site, parseApiVersion(request), body);
    if (replayed) reply.header('idempotency-replayed', 'true');
    return {
      sessionId: session.sessionId,
      redirectUrl: buildRedirectUrl(session, this.config.SVC_GATEWAY_URL),
      ...(replayed ? { sessionState: determineSessionState(session, this.clock.now()) } : {}),
      status: 'Success',
      errors: [],
      ...(warnings.length > 0 ? { warnings: [...warnings] } : {}),
    };
  }

  /**
   * Cancels a session that has no payment in progress. Then the session can never be paid (H2).
   *
   * @throws resource.not-found The site has no such session.
   * @throws payment.in-progress
   * @throws payable.paid
   * @throws payable.closed
   * @throws payable.refused
   * @throws payable.expired
   */
  @Delete(':sessionId')
  @UseGuards(RequireApiKeyGuard)
  @HttpCode(200)
  async cancel(
    @CallingSite() site: AuthenticatedSite,
    @Param('sessionId') sessionId: string,
  ): Promise<HostedErrorResponse> {
    await this.cancelSession.execute(site, sessionId);
    return { status: 'Success', errors: [] };
  }
}

function parseApiVersion(request: FastifyRequest): HostedApiVersion {
  return request.url.startsWith('/api/v3.1/') ? 'v3.1' : 'v3';
}
