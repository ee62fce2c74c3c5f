import { DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import type { EntityManager } from 'typeorm';
import type { SiteSettings } from './site.js';
import { SiteRow } from './site.row.js';

/** Throws `resource.not-found` if the site does not exist or belongs to another merchant. */
export async function getSite(tx: EntityManager, merchantId: number, siteId: number): Promise<SiteRow> {
  const site = await tx.findOneBy(SiteRow, { merchantId, siteId });
  if (!site) throw new DomainError('resource.not-found', { message: `Merchant ${merchantId} has no site ${siteId}.` });
  return site;
}

/**
 * Maximum number of sites of a merchant. It limits the size of a response. It also limits the number of events that are
 * published when the merchant is renamed.
 */
export const MAX_SITES_PER_MERCHANT = 1000;

/** Sites of a merchant, ordered by id. */
export function listSites(tx: EntityManager, merchantId: number): Promise<SiteRow[]> {
  return tx.find(SiteRow, { where: { merchantId }, order: { siteId: 'ASC' }, take: MAX_SITES_PER_MERCHANT });
}

/** Returns the number of sites of each of these merchants. The map does not contain merchants without sites. */
export async function countSites(tx: EntityManager, merchantIds: readonly number[]): Promise<Map<number, number>> {
  const rows = await tx.query<{ merchantId: number; sites: number }[]>(
    `SELECT merchant_id AS "merchantId", count(*) AS sites FROM sites WHERE merchant_id = ANY ($1) GROUP BY merchant_id`,
    [merchantIds],
  );
  return new Map(rows.map(({ merchantId, sites }) => [merchantId, sites]));
}

export function countSitesOfMerchant(tx: EntityManager, merchantId: number): Promise<number> {
  return tx.countBy(SiteRow, { merchantId });
}

/** Returns the id of the new site. Throws `resource.conflict` if the merchant has a site with this reference. */
export async function insertSite(tx: EntityManager, site: Omit<SiteRow, 'siteId'>): Promise<number> {
  const { identifiers } = await tx.insert(SiteRow, site).catch(throwForDuplicateReference);
  return (identifiers[0] as { siteId: number }).siteId;
}

/** Throws `resource.conflict` if the merchant has another site with this reference. */
export async function updateSite(
  tx: EntityManager,
  merchantId: number,
  siteId: number,
  change: SiteSettings & { readonly version: number },
): Promise<void> {
  await tx.update(SiteRow, { merchantId, siteId }, change).catch(throwForDuplicateReference);
}

/** Increments the version of all sites of a merchant, so that they can be published again. Returns the sites. */
export async function incrementSiteVersions(tx: EntityManager, merchantId: number): Promise<SiteRow[]> {
  await tx.increment(SiteRow, { merchantId }, 'version', 1);
  return tx.findBy(SiteRow, { merchantId });
}

function throwForDuplicateReference(error: unknown): never {
  if (!isUniqueViolation(error, 'sites_reference')) throw error;
  const message = 'This merchant already has a site with this siteReference.';
  throw new DomainError('resource.conflict', { message, fields: [{ field: 'siteReference', message }], cause: error });
}
