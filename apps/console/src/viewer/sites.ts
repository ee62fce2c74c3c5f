import { DomainError, isNumericId } from '@svc/kernel';
import type { KnownSite } from '../merchants/merchant.repository.js';
import type { MerchantViewer } from './viewer.js';

type SitesOfViewer = Pick<MerchantViewer, 'merchant' | 'scope'>;

/** The sites of the merchant at which the person has the right of the page. */
export function listSites({ merchant, scope }: SitesOfViewer): readonly KnownSite[] {
  const { sites } = scope;
  return merchant.sites.filter(({ siteId }) => sites === 'all' || sites.includes(siteId));
}

/**
 * The site of a page that shows one site: the one that the address or the form names, else the first one of the person.
 * Undefined if there is none. Throws `resource.not-found` for any other value, so that sites of others do not exist.
 */
export function chooseSite(viewer: SitesOfViewer, value: unknown): number | undefined {
  return isAbsent(value) ? listSites(viewer)[0]?.siteId : getSite(viewer, value);
}

/** As {@link chooseSite}. Throws `resource.not-found` if the person has no site. */
export function requireSite(viewer: SitesOfViewer, value: unknown): number {
  const siteId = chooseSite(viewer, value);
  if (siteId === undefined) throw new DomainError('resource.not-found');
  return siteId;
}

/**
 * The site of a page that can show all sites: undefined for all of them. A person with roles at single sites sees one site
 * at a time, without a choice the first. Throws as {@link chooseSite}.
 */
export function chooseSiteOrAll(viewer: SitesOfViewer, value: unknown): number | undefined {
  const { sites } = viewer.scope;
  if (isAbsent(value)) return sites === 'all' ? undefined : sites[0];
  return getSite(viewer, value);
}

export function siteName({ merchant }: Pick<MerchantViewer, 'merchant'>, siteId: number): string {
  return merchant.sites.find((site) => site.siteId === siteId)?.name ?? String(siteId);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === '';
}

function getSite(viewer: SitesOfViewer, value: unknown): number {
  const site = isNumericId(value) ? listSites(viewer).find(({ siteId }) => siteId === Number(value)) : undefined;
  if (!site) throw new DomainError('resource.not-found');
  return site.siteId;
}
