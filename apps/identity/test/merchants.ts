import type { TestService } from '@svc/testing';
import { adminClient } from './identity.js';

/** Paths in the administration API of two merchants and their sites. */
export interface MerchantPaths {
  readonly merchant: string;
  /** A site of `merchant`. */
  readonly site: string;
  /** Another site of `merchant`. */
  readonly otherSite: string;
  readonly otherMerchant: string;
  /** The site of `otherMerchant`. It has the same siteReference as `site`. */
  readonly otherMerchantSite: string;
  /** A path that does not exist: the id of `site` below the path of `otherMerchant`. */
  readonly siteUnderOtherMerchant: string;
}

/** Creates a merchant with two sites, and another merchant with one site. */
export async function createTwoMerchants(identity: TestService): Promise<MerchantPaths> {
  const admin = adminClient(identity);
  const createMerchant = async (name: string): Promise<string> => {
    const { merchantId } = (await admin('POST', '/admin/v1/merchants', { name })).body as { merchantId: number };
    return `/admin/v1/merchants/${merchantId}`;
  };
  const createSite = async (merchant: string, siteReference: string): Promise<string> => {
    const { siteId } = (await admin('POST', `${merchant}/sites`, { name: siteReference, siteReference })).body as {
      siteId: number;
    };
    return `${merchant}/sites/${siteId}`;
  };
  const [merchant, otherMerchant] = [await createMerchant('One'), await createMerchant('Other')];
  const site = await createSite(merchant, 'SHOP');
  return {
    merchant,
    site,
    otherSite: await createSite(merchant, 'TILL'),
    otherMerchant,
    otherMerchantSite: await createSite(otherMerchant, 'SHOP'),
    siteUnderOtherMerchant: site.replace(merchant, otherMerchant),
  };
}
