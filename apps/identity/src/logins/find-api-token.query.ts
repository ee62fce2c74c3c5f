import type { DataSource } from 'typeorm';

/** An API token, and the organisation and mode to which it belongs. */
interface ApiTokenOwner {
  readonly tokenId: string;
  readonly organisationId: string;
  readonly mode: string;
}

/**
 * Finds a valid API token by its hash. The query does not check the owner, because only the holder of the token can
 * compute the hash.
 */
export async function findApiToken(db: Pick<DataSource, 'query'>, hash: string): Promise<ApiTokenOwner | undefined> {
  const [found] = await db.query<ApiTokenOwner[]>(
    `SELECT credential_id AS "tokenId", organisation_id AS "organisationId", mode FROM partner_credentials
        WHERE hash = $1 AND kind = 'api-token' AND revoked_at IS NULL`,
    [hash],
  );
  return found;
}
