import { Inject, Injectable } from '@nestjs/common';
import type { MerchantFeatures, MerchantFees, MerchantGrant, TimeZonePeriod } from '@svc/contracts';
import { DataSource } from 'typeorm';
import { type SiteView, toSiteView } from '../sites/site.js';
import { countSites, listSites } from '../sites/site.repository.js';
import type { Merchant } from './merchant.js';
import { getMerchant, listMerchants } from './merchant.repository.js';

/** A merchant in the administration API. */
export interface MerchantView {
  readonly merchantId: number;
  readonly name: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
  readonly features: MerchantFeatures;
  /**
   * Minimum amount in cents of a payment that pays less than the whole invoice. Only administrators see this setting.
   */
  readonly minimumAmount: number;
  /**
   * Maximum amount in cents of a payment that pays more than the invoice. Null if the default applies: ten times the
   * amount due, but at most R 50 000. Only administrators see this setting.
   */
  readonly maximumAmount: number | null;
  readonly grants: MerchantGrant[];
  /** The fees of each mode. Only administrators see them. */
  readonly fees: MerchantFees;
  /** The time zones of the merchant's days (M7). Another zone begins at a local midnight: `from`. */
  readonly timeZones: TimeZonePeriod[];
}

/** A merchant in the list of merchants. */
export interface ListedMerchant extends MerchantView {
  readonly siteCount: number;
}

/** A merchant in the response for a single merchant. */
export interface MerchantWithSites extends MerchantView {
  /** All sites, ordered by id. A merchant has at most 1000 sites. */
  readonly sites: SiteView[];
}

@Injectable()
export class ListMerchants {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** A page of merchants with a higher id than `after`, ordered by id. */
  async getPage(after: number): Promise<ListedMerchant[]> {
    const { manager } = this.dataSource;
    const merchants = await listMerchants(manager, after);
    const ids = merchants.map(({ merchantId }) => merchantId);
    const counts = await countSites(manager, ids);
    return merchants.map((merchant) => ({
      ...toMerchantView(merchant),
      siteCount: counts.get(merchant.merchantId) ?? 0,
    }));
  }

  /** Throws `resource.not-found`. */
  async get(merchantId: number): Promise<MerchantWithSites> {
    const { manager } = this.dataSource;
    const merchant = await getMerchant(manager, merchantId);
    return { ...toMerchantView(merchant), sites: (await listSites(manager, merchantId)).map(toSiteView) };
  }
}

export function toMerchantView({ createdAt, ...merchant }: Merchant): MerchantView {
  const { merchantId, name, features, minimumAmount, maximumAmount, grants, fees, timeZones } = merchant;
  const createdUTCDate = createdAt.toISOString();
  return { merchantId, name, createdUTCDate, features, minimumAmount, maximumAmount, grants, fees, timeZones };
}
