import { type ExecutionContext, Injectable } from '@nestjs/common';
import { RateLimitGuard } from '../rate-limit.guard.js';
import { getAuthenticatedSite } from './site.guard.js';

/**
 * Rate limit by IP address, for sites that need no API key (A8). Must run after SiteGuard.
 *
 * @throws request.rate-limited Too many calls without a key from one address.
 */
@Injectable()
export class KeylessRateLimitGuard extends RateLimitGuard {
  protected readonly throttlerName = 'keyless';

  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(!getAuthenticatedSite(context).keyless);
  }
}
