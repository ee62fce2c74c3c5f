import type { DataSource } from 'typeorm';

/** The address of the webhook of a site, also while it is disabled. Undefined if the site is unknown or has no address. */
export async function findWebhookAddress(
  db: Pick<DataSource, 'query'>,
  merchantId: number,
  siteId: number,
): Promise<string | undefined> {
  const [site] = await db.query<{ url: string | null }[]>(
    `SELECT webhook_url AS url FROM sites WHERE site_id = $1 AND merchant_id = $2`,
    [siteId, merchantId],
  );
  return site?.url ?? undefined;
}
