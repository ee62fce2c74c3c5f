import { type CanActivate, createParamDecorator, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { type AuthenticatedSite, SiteCredentials } from '@svc/auth';
import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';

export interface SiteRequest extends FastifyRequest {
  site?: AuthenticatedSite;
}

/**
 * Lets a merchant's server in: headers merchantId, merchantSiteId and, unless the site does without, x-api-key (A8).
 *
 * @throws credentials.invalid The site is not known, or the key is missing, wrong or of another merchant or site.
 */
@Injectable()
export class SiteGuard implements CanActivate {
  constructor(@Inject(SiteCredentials) private readonly credentials: SiteCredentials) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<SiteRequest>();
    const { merchantid: merchantId, merchantsiteid: merchantSiteId, 'x-api-key': apiKey } = request.headers;
    request.site = await this.credentials.authenticate({ merchantId, merchantSiteId, apiKey });
    return true;
  }
}

/**
 * For what goes beyond the calls that integrations with the two documented headers know: a merchant's and a site's number
 * are no secret, so whoever reads of payments that he did not make, or cancels, has to show a key (A8).
 *
 * @throws credentials.invalid
 */
@Injectable()
export class WithKey implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (siteOf(context).keyless)
      throw new DomainError('credentials.invalid', { message: 'This needs a key, also at this site: send x-api-key.' });
    return true;
  }
}

export function siteOf(context: ExecutionContext): AuthenticatedSite {
  const { site } = context.switchToHttp().getRequest<SiteRequest>();
  if (!site) throw new Error('SiteGuard has not run.');
  return site;
}

/** The site that {@link SiteGuard} let in. */
export const CallingSite = createParamDecorator((_: unknown, context: ExecutionContext) => siteOf(context));
