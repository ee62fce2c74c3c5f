import { Inject, Injectable } from '@nestjs/common';
import { Clock, KeptForASecond } from '@svc/kernel';
import { DataSource } from 'typeorm';
import type { NotifiedSite, SigningKey } from './signing-keys.js';

interface Existing {
  readonly api_key: boolean;
  readonly webhook_secret: boolean;
}

/** Tells which signing keys a site lacks, from this service's own copy of what identity published. */
@Injectable()
export class FindMissingKeys {
  /** Sites that lack no key. A new key counts at once, a revocation a second later. */
  private readonly complete: KeptForASecond<true>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) clock: Clock,
  ) {
    this.complete = new KeptForASecond(clock);
  }

  async execute(site: NotifiedSite): Promise<readonly SigningKey[]> {
    const name = `${site.merchantId} ${site.siteId} ${site.mode} ${site.apiVersion}`;
    const isComplete = await this.complete.find(name, async () =>
      (await this.lookUp(site)).length === 0 ? true : undefined,
    );
    return isComplete ? [] : this.lookUp(site);
  }

  /**
   * The previous release of identity publishes no webhook secrets. As long as this service knows none at all, it requires
   * none, so that a rollout may begin with this service.
   */
  private async lookUp({ merchantId, siteId, mode, apiVersion }: NotifiedSite): Promise<readonly SigningKey[]> {
    const [row] = await this.dataSource.query<[Existing]>(
      `SELECT EXISTS (SELECT 1 FROM known_api_keys
                       WHERE merchant_id = $1 AND mode = $2 AND NOT revoked AND site_id IS NOT DISTINCT FROM $4) AS api_key,
              EXISTS (SELECT 1 FROM known_webhook_secrets
                       WHERE merchant_id = $1 AND site_id = $3 AND mode = $2 AND NOT revoked)
                OR NOT EXISTS (SELECT 1 FROM known_webhook_secrets) AS webhook_secret`,
      // H5, E3: v3.1 is signed with the site's key, v3 with the merchant's.
      [merchantId, mode, siteId, apiVersion === 'v3.1' ? siteId : null],
    );
    return [...(row.api_key ? [] : ['api-key' as const]), ...(row.webhook_secret ? [] : ['webhook-secret' as const])];
  }
}
