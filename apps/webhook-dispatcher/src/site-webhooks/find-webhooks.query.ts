import type { EntityManager } from 'typeorm';

/** A site of a merchant. */
interface SiteKey {
  readonly merchantId: number;
  readonly siteId: number;
}

/** The enabled webhook of a site (M6). */
export interface SiteWebhook extends SiteKey {
  readonly url: string;
}

/**
 * Reads the enabled webhooks of these sites in one statement. Returns a function that finds the enabled webhook of one
 * of these sites.
 */
export async function findWebhooks(
  db: Pick<EntityManager, 'query'>,
  sites: readonly SiteKey[],
): Promise<(site: SiteKey) => SiteWebhook | undefined> {
  const webhooks = await db.query<SiteWebhook[]>(
    `SELECT merchant_id AS "merchantId", site_id AS "siteId", webhook_url AS url
       FROM sites WHERE site_id = ANY($1::bigint[]) AND webhook_enabled`,
    [[...new Set(sites.map(({ siteId }) => siteId))]],
  );
  return ({ merchantId, siteId }) =>
    webhooks.find((webhook) => webhook.siteId === siteId && webhook.merchantId === merchantId);
}
