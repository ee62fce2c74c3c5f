import type { DataSource } from 'typeorm';

/** The identifier of the site's till, for invoices that no till creates. Undefined if the merchant has no such site. */
export async function findSiteReference(
  db: Pick<DataSource, 'query'>,
  merchantId: number,
  siteId: number,
): Promise<string | undefined> {
  const [site] = await db.query<{ siteReference: string }[]>(
    `SELECT site_reference AS "siteReference" FROM known_sites WHERE merchant_id = $1 AND site_id = $2`,
    [merchantId, siteId],
  );
  return site?.siteReference;
}
