import { Inject, Injectable } from '@nestjs/common';
import { Clock, TtlCache } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { findExistingKeys } from './find-existing-keys.query.js';
import type { NotifiedSite, SigningKey } from './signing-keys.js';

/** Finds the signing keys that a site lacks, in this service's copy of the keys that identity published. */
@Injectable()
export class FindMissingKeys {
  /**
   * Caches for one second which sites have all keys. A missing key is not cached. So a new key has effect immediately,
   * and a revocation within one second.
   */
  private readonly completeSites: TtlCache<true>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) clock: Clock,
  ) {
    this.completeSites = new TtlCache(clock);
  }

  async execute(site: NotifiedSite): Promise<readonly SigningKey[]> {
    const cacheKey = `${site.merchantId} ${site.siteId} ${site.mode} ${site.apiVersion}`;
    const isComplete = await this.completeSites.find(cacheKey, async () =>
      (await this.findMissing(site)).length === 0 ? true : undefined,
    );
    return isComplete ? [] : this.findMissing(site);
  }

  private async findMissing(site: NotifiedSite): Promise<readonly SigningKey[]> {
    const existing = await findExistingKeys(this.dataSource, site);
    return [
      ...(existing.apiKey ? [] : ['api-key' as const]),
      ...(existing.webhookSecret ? [] : ['webhook-secret' as const]),
    ];
  }
}
