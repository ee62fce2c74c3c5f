import type { DataSource } from 'typeorm';
import type { NotifiedSite } from './signing-keys.js';

/** The kinds of signing keys that a site has. */
interface ExistingKeys {
  readonly apiKey: boolean;
  readonly webhookSecret: boolean;
}

/** Finds out which signing keys a site has. */
export async function findExistingKeys(
  db: Pick<DataSource, 'query'>,
  { merchantId, siteId, mode, apiVersion }: NotifiedSite,
): Promise<ExistingKeys> {
  const [row] = await db.query<[ExistingKeys]>(
    `SELECT EXISTS (SELECT 1 FROM known_api_keys
                       WHERE merchant_id = $1 AND mode = $2 AND NOT revoked AND site_id IS NOT DISTINCT FROM $4) AS "apiKey",
              EXISTS (SELECT 1 FROM known_webhook_secrets
                       WHERE merchant_id = $1 AND site_id = $3 AND mode = $2 AND NOT revoked) AS "webhookSecret"`,
    // Notifications of v3.1 are signed with the site's key, notifications of v3 with the merchant's key (H5, E3).
    [merchantId, mode, siteId, apiVersion === 'v3.1' ? siteId : null],
  );
  return row;
}
