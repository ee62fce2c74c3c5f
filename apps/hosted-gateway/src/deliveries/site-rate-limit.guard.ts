import { Injectable } from '@nestjs/common';
import { RateLimitGuard } from '../rate-limit.guard.js';
import type { SiteRequest } from '../sessions/site.guard.js';

/**
 * Rate limit of the deliveries API for each site and mode, whatever the IP address. Must run after SiteGuard.
 *
 * @throws request.rate-limited
 */
@Injectable()
export class SiteRateLimitGuard extends RateLimitGuard {
  protected readonly throttlerName = 'deliveries';

  protected override getTracker(request: Record<string, unknown>): Promise<string> {
    const { site } = request as unknown as SiteRequest;
    if (!site) throw new Error('SiteGuard has not run.');
    return Promise.resolve(`${site.merchantId} ${site.siteId} ${site.mode}`);
  }
}
