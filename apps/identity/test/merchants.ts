import type { TestService } from '@svc/testing';
import { adminOf } from './identity.js';

/** Paths of the administration API of a merchant with two sites, and of another one with one site. */
export interface TwoMerchants {
  readonly merchant: string;
  readonly site: string;
  readonly sibling: string;
  readonly other: string;
  readonly sites: Readonly<Record<'site' | 'sibling' | 'foreign', string>>;
  /** The path of the site below the other merchant. */
  readonly misplaced: string;
}

export async function twoMerchants(identity: TestService): Promise<TwoMerchants> {
  const admin = adminOf(identity);
  const newMerchant = async (name: string): Promise<string> => {
    const { merchantId } = (await admin('POST', '/admin/v1/merchants', { name })).body as { merchantId: number };
    return `/admin/v1/merchants/${merchantId}`;
  };
  const newSite = async (merchant: string, siteReference: string): Promise<string> => {
    const { siteId } = (await admin('POST', `${merchant}/sites`, { name: siteReference, siteReference })).body as {
      siteId: number;
    };
    return `${merchant}/sites/${siteId}`;
  };
  const [merchant, other] = [await newMerchant('One'), await newMerchant('Other')];
  const sites = {
    site: await newSite(merchant, 'SHOP'),
    sibling: await newSite(merchant, 'TILL'),
    foreign: await newSite(other, 'SHOP'),
  };
  return {
    ...{ merchant, other, sites },
    ...{ site: sites.site, sibling: sites.sibling },
    misplaced: sites.site.replace(merchant, other),
  };
}
