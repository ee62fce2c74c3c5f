import { Inject, Injectable } from '@nestjs/common';
import type { MerchantFeatures, MerchantFees, MerchantGrant } from '@svc/contracts';
import { DataSource } from 'typeorm';
import { showSite, type SiteView } from '../sites/site.js';
import { countSites, sitesOf } from '../sites/site.repository.js';
import type { Merchant } from './merchant.js';
import { getMerchant, listMerchants } from './merchant.repository.js';

/** A merchant as the administration API shows it. */
export interface MerchantView {
  readonly merchantId: number;
  readonly name: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
  readonly features: MerchantFeatures;
  /** Cents; only administrators see it. */
  readonly minimumAmount: number;
  readonly grants: MerchantGrant[];
  /** By mode; only administrators see them. */
  readonly fees: MerchantFees;
}

/** One of a list of merchants. */
export interface ListedMerchant extends MerchantView {
  readonly siteCount: number;
}

/** One merchant alone. */
export interface MerchantWithSites extends MerchantView {
  /** All of them, in the order of their ids; at most 1000 (see create-site). */
  readonly sites: SiteView[];
}

@Injectable()
export class ListMerchants {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** In the order of their ids, a page of them, those with a higher id than `after`. */
  async page(after: number): Promise<ListedMerchant[]> {
    const { manager } = this.dataSource;
    const merchants = await listMerchants(manager, after);
    const ids = merchants.map(({ merchantId }) => merchantId);
    const counts = await countSites(manager, ids);
    return merchants.map((merchant) => ({
      ...showMerchant(merchant),
      siteCount: counts.get(merchant.merchantId) ?? 0,
    }));
  }

  /** Throws `resource.not-found`. */
  async get(merchantId: number): Promise<MerchantWithSites> {
    const { manager } = this.dataSource;
    const merchant = await getMerchant(manager, merchantId);
    return { ...showMerchant(merchant), sites: (await sitesOf(manager, merchantId)).map(showSite) };
  }
}

export function showMerchant({ createdAt, ...merchant }: Merchant): MerchantView {
  const { merchantId, name, features, minimumAmount, grants, fees } = merchant;
  return { merchantId, name, createdUTCDate: createdAt.toISOString(), features, minimumAmount, grants, fees };
}
