import { Inject, Injectable } from '@nestjs/common';
import type { MerchantFeatures, MerchantGrant } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { DataSource, MoreThan } from 'typeorm';
import { showSite, type SiteView } from '../sites/site.js';
import { sitesOfMerchants } from '../sites/site.repository.js';
import { MerchantRow } from './merchant.row.js';

/** A merchant as the administration API shows it. */
export interface MerchantView {
  readonly merchantId: number;
  readonly name: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
  readonly features: MerchantFeatures;
  readonly grants: MerchantGrant[];
  /** All of them, in the order of their ids; at most 1000 (see create-site). */
  readonly sites: SiteView[];
}

export const MERCHANT_PAGE_SIZE = 50;

@Injectable()
export class ListMerchants {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** In the order of their ids, at most {@link MERCHANT_PAGE_SIZE}, those with a higher id than `after`. */
  async page(after: number): Promise<MerchantView[]> {
    return this.withSites(
      await this.dataSource.manager.find(MerchantRow, {
        where: { merchantId: MoreThan(after) },
        order: { merchantId: 'ASC' },
        take: MERCHANT_PAGE_SIZE,
      }),
    );
  }

  /** Throws `resource.not-found`. */
  async get(merchantId: number): Promise<MerchantView> {
    const [merchant] = await this.withSites(await this.dataSource.manager.findBy(MerchantRow, { merchantId }));
    if (!merchant) throw new DomainError('resource.not-found');
    return merchant;
  }

  private async withSites(merchants: MerchantRow[]): Promise<MerchantView[]> {
    const ids = merchants.map(({ merchantId }) => merchantId);
    const sites = await sitesOfMerchants(this.dataSource.manager, ids);
    const sitesOf = Map.groupBy(sites, ({ merchantId }) => merchantId);
    return merchants.map(({ merchantId, name, createdAt, features, grants }) => ({
      merchantId,
      name,
      createdUTCDate: createdAt.toISOString(),
      features,
      grants,
      sites: (sitesOf.get(merchantId) ?? []).map(showSite),
    }));
  }
}
