import type { DataSource } from 'typeorm';

/**
 * Returns the given merchant and site keys without the revoked ones. Use this function for a connection that stays
 * open, such as an event stream. The guard checks the key only when the connection opens, but the connection must also
 * close after the key is revoked. The function requires the same tables as {@link MerchantKeyGuard}.
 */
export async function findActiveKeys(dataSource: DataSource, keyIds: readonly string[]): Promise<Set<string>> {
  const rows = await dataSource.query<{ keyId: string }[]>(
    `SELECT key_id AS "keyId" FROM known_api_keys WHERE key_id = ANY ($1::uuid[]) AND NOT revoked`,
    [keyIds],
  );
  return new Set(rows.map(({ keyId }) => keyId));
}
