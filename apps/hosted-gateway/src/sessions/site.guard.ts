import { type CanActivate, createParamDecorator, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { type AuthenticatedSite, SiteCredentials } from '@svc/auth';
import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';

export interface SiteRequest extends FastifyRequest {
  site?: AuthenticatedSite;
}

/**
 * Authenticates a merchant's server by the headers merchantId, merchantSiteId and x-api-key (A8). Some sites need no
 * x-api-key.
 *
 * @throws credentials.invalid The site is not known, or the key is wrong or of another merchant or site.
 * @throws credentials.key-missing
 * @throws credentials.key-malformed
 * @throws credentials.merchant-key-needed
 */
@Injectable()
export class SiteGuard implements CanActivate {
  constructor(@Inject(SiteCredentials) private readonly credentials: SiteCredentials) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<SiteRequest>();
    const {
      merchantid: merchantId,
      merchantsiteid: merchantSiteId,
      'x-api-key': apiKey,
      authorization,
    } = request.headers;
    request.site = await this.credentials.authenticate({ merchantId, merchantSiteId, apiKey, authorization });
    return true;
  }
}

/**
 * Requires an API key, also from a site that needs none to create sessions. The ids of a merchant and a site
 * are not secret, so without a key any caller could read the payments of the site or cancel its sessions (A8).
 *
 * @throws credentials.key-missing
 */
@Injectable()
export class RequireApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (getAuthenticatedSite(context).keyless)
      throw new DomainError('credentials.key-missing', {
        message: 'This needs a key, also at this site: send the key of the site or its merchant in x-api-key.',
      });
    return true;
  }
}

/** The site that {@link SiteGuard} authenticated. */
export function getAuthenticatedSite(context: ExecutionContext): AuthenticatedSite {
  const { site } = context.switchToHttp().getRequest<SiteRequest>();
  if (!site) throw new Error('SiteGuard has not run.');
  return site;
}

/** Parameter decorator: the site that {@link SiteGuard} authenticated. */
export const CallingSite = createParamDecorator((_: unknown, context: ExecutionContext) =>
  getAuthenticatedSite(context),
);
