import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  UseGuards,
} from '@nestjs/common';
import { getAuthenticatedMerchant, MerchantKeyGuard } from '@svc/auth';
import { DomainError } from '@svc/kernel';
import type { InvoiceOwner } from './invoice.repository.js';

/**
 * Responds 404 if the authenticated merchant has no such site.
 *
 * @throws resource.not-found The merchant has no such site.
 */
class RequireSiteGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { siteId, siteExists } = getAuthenticatedMerchant(context);
    if (siteId === undefined || !siteExists)
      throw new DomainError('resource.not-found', { message: 'There is no such site.' });
    return true;
  }
}

/** Controller decorator: admits only merchants, on the path of one of their sites (A7). */
export function ForSites(): ClassDecorator & MethodDecorator {
  return applyDecorators(UseGuards(MerchantKeyGuard, RequireSiteGuard));
}

/** Parameter decorator: the site in the path, which {@link ForSites} has checked. */
export const CallingSite = createParamDecorator((_: unknown, context: ExecutionContext): InvoiceOwner => {
  const { merchantId, siteId, mode } = getAuthenticatedMerchant(context);
  if (siteId === undefined) throw new Error('@CallingSite() needs @ForSites().');
  return { merchantId, siteId, mode };
});
