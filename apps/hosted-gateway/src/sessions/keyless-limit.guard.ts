import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AddressLimit } from '../address-limit.guard.js';
import { siteOf } from './site.guard.js';

/**
 * Bounds how often one address may call for a site that needs no key (A8). Runs after SiteGuard.
 *
 * @throws request.rate-limited Too many calls without a key from one address.
 */
@Injectable()
export class KeylessLimit extends AddressLimit {
  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(!siteOf(context).keyless);
  }
}
