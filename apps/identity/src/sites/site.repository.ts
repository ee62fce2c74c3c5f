import { DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import type { EntityManager } from 'typeorm';
import { SiteRow } from './site.row.js';

/** Throws `resource.not-found`, also for a site of another merchant. */
export async function getSite(tx: EntityManager, merchantId: number, siteId: number): Promise<SiteRow> {
  const site = await tx.findOneBy(SiteRow, { merchantId, siteId });
  if (!site) throw new DomainError('resource.not-found');
  return site;
}

/** Says which rule of the table was broken, to somebody who can do something about it. */
export function refuseTakenReference(error: unknown): never {
  if (!isUniqueViolation(error, 'sites_reference')) throw error;
  const message = 'This merchant already has a site with this siteReference.';
  throw new DomainError('resource.conflict', { message, fields: [{ field: 'siteReference', message }], cause: error });
}
