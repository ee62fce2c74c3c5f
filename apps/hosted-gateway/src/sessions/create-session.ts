import { Inject, Injectable } from '@nestjs/common';
import type { AuthenticatedSite } from '@svc/auth';
import { CreateSessionRequest, type HostedApiVersion, type HostedWarning } from '@svc/contracts';
import { Clock, DomainError, type FieldRule, merchantUrlProblem, newOwnCode, newUuid, rulesFor } from '@svc/kernel';
import { addSessionToSpan, currentTraceparent } from '@svc/messaging';
import { calledUrlProblem } from '@svc/outbound';
import { readBody, SERVICE_LOG, type ServiceLog } from '@svc/service';
import { readBasket } from '../baskets/basket.js';
import { HostedGatewayConfig } from '../config.js';
import { FindMissingKeys } from '../signing-keys/find-missing-keys.js';
import { createNoSigningKeyError } from '../signing-keys/signing-keys.js';
import { findSessionWarnings } from '../warnings/session-warnings.js';
import { computeFingerprint, type Session, SESSION_LIFETIME_MS } from './session.js';
import { SessionRepository } from './session.repository.js';

interface CreatedSession {
  readonly session: Session;
  readonly replayed: boolean;
  readonly warnings: readonly HostedWarning[];
}

/**
 * Creates a session, once for each requestId of a site and API version (C7). This needs one round trip to PostgreSQL,
 * one commit and one event. A retry needs a second round trip. Rejects a session whose webhook could not be signed,
 * because the payer would pay and the merchant would never receive a notification. A retry still returns the existing
 * session.
 */
@Injectable()
export class CreateSession {
  constructor(
    @Inject(SessionRepository) private readonly sessions: SessionRepository,
    @Inject(FindMissingKeys) private readonly findMissingKeys: FindMissingKeys,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async execute(site: AuthenticatedSite, apiVersion: HostedApiVersion, body: unknown): Promise<CreatedSession> {
    // Without an acquirer for live payments no payer could pay the session.
    if (site.mode === 'live' && this.config.SVC_ACQUIRER_LIVE === 'off') throw new DomainError('live-mode.unavailable');
    const request = await readBody(CreateSessionRequest, body, this.urlRules(site));
    const { basket, warnings: basketWarnings } = readBasket(request, request.amount);
    // One line of the log for each request, without texts of the merchant. Also in live mode, because the page does not
    // show what the merchant sent.
    if (basketWarnings.length > 0)
      this.log.warn({ siteId: site.siteId, warnings: basketWarnings }, 'line items of a session are not shown');
    const fieldWarnings = findSessionWarnings(site.mode, body, request);
    const now = this.clock.now();
    const session: Session = {
      sessionId: newUuid(this.clock),
      code: newOwnCode(),
      mode: site.mode,
      merchantId: site.merchantId,
      siteId: site.siteId,
      merchantName: site.merchantName,
      apiVersion,
      requestId: request.requestId,
      merchantOrderId: request.merchantOrderId,
      amount: request.amount,
      currencyISOCode: request.currencyISOCode,
      notificationUrl: request.notificationUrl,
      returnUrl: request.returnUrl,
      cancelUrl: request.cancelUrl,
      origin: request.origin,
      siteName: request.siteName ?? null,
      customFields: request.customFields ?? [],
      basket,
      locale: request.locale ?? null,
      createdAt: now,
      expiresAt: new Date(now.getTime() + SESSION_LIFETIME_MS),
      extended: false,
      payableState: 'open',
      payableVersion: 1,
      paymentCount: 0,
      traceparent: currentTraceparent() ?? null,
    };
    addSessionToSpan(session);
    const fingerprint = computeFingerprint(request);
    if (fieldWarnings.length > 0)
      this.log.warn(
        { merchantId: site.merchantId, siteId: site.siteId, warnings: fieldWarnings },
        'request for a session has warnings',
      );
    const warnings = site.mode === 'test' ? [...fieldWarnings, ...basketWarnings] : [];
    const missingKeys = await this.findMissingKeys.execute({ ...site, apiVersion });
    if (missingKeys.length === 0 && (await this.sessions.create(session, fingerprint)))
      return { session, replayed: false, warnings };

    const existing = await this.sessions.findByRequestId(site, apiVersion, request.requestId);
    if (!existing && missingKeys.length > 0) throw createNoSigningKeyError({ ...site, apiVersion }, missingKeys);
    if (existing?.fingerprint !== fingerprint) {
      throw new DomainError('request.idempotency-conflict', {
        message: 'requestId was used before with different content. Send the same content, or another requestId.',
      });
    }
    return { session: existing, replayed: true, warnings };
  }

  private urlRules(site: AuthenticatedSite): FieldRule<CreateSessionRequest>[] {
    const urlOptions = {
      allowLoopbackHttp: this.config.SVC_ENVIRONMENT === 'development',
      ...(site.keyless ? { allowedHosts: site.allowedHosts } : {}),
    };
    const rule = rulesFor<CreateSessionRequest>();
    return [
      rule(['notificationUrl'], (request) => calledUrlProblem('notificationUrl', request.notificationUrl, urlOptions)),
      ...(['returnUrl', 'cancelUrl'] as const).map((field) =>
        rule([field], (request) => merchantUrlProblem(field, request[field], urlOptions)),
      ),
    ];
  }
}
