import { Injectable } from '@nestjs/common';
import { AddressLimit } from '../address-limit.guard.js';
import type { SiteRequest } from '../sessions/site.guard.js';

/**
 * Bounds how often a site in one mode may ask for its deliveries, from whatever addresses. Runs after SiteGuard.
 *
 * @throws request.rate-limited
 */
@Injectable()
export class SiteLimit extends AddressLimit {
  protected override getTracker(request: Record<string, unknown>): Promise<string> {
    const { site } = request as unknown as SiteRequest;
    if (!site) throw new Error('SiteGuard has not run.');
    return Promise.resolve(`${site.merchantId} ${site.siteId} ${site.mode}`);
  }
}
