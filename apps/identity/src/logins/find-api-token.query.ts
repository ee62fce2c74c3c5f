import type { DataSource } from 'typeorm';

export interface ApiTokenOwner {
  readonly tokenId: string;
  readonly organisationId: string;
  readonly mode: string;
}

/** Needs no owner: only the holder of the token can compute its hash. */
export async function findApiToken(db: Pick<DataSource, 'query'>, hash: string): Promise<ApiTokenOwner | undefined> {
  const [found] = await db.query<ApiTokenOwner[]>(
    `SELECT credential_id AS "tokenId", organisation_id AS "organisationId", mode FROM partner_credentials
        WHERE hash = $1 AND kind = 'api-token' AND revoked_at IS NULL`,
    [hash],
  );
  return found;
}
