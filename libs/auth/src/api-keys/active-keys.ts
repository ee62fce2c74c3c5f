import type { DataSource } from 'typeorm';

/**
 * Returns the given merchant and site keys that are not revoked. For a connection that outlives its request: the guard checked
 * its key only once, and the connection must close after a revocation. Needs what {@link MerchantKeyGuard} needs.
 */
export async function findActiveKeys(dataSource: DataSource, keyIds: readonly string[]): Promise<Set<string>> {
  const rows = await dataSource.query<{ keyId: string }[]>(
    `SELECT key_id AS "keyId" FROM known_api_keys WHERE key_id = ANY ($1::uuid[]) AND NOT revoked`,
    [keyIds],
  );
  return new Set(rows.map(({ keyId }) => keyId));
}
