import type { DataSource } from 'typeorm';

/**
 * Returns those of the given merchant and site keys that are not revoked. Use it for a connection that stays open, such
 * as an event stream: the guard checked its key only once, and the connection must close after a revocation. Requires
 * the same tables as {@link MerchantKeyGuard}.
 */
export async function findActiveKeys(dataSource: DataSource, keyIds: readonly string[]): Promise<Set<string>> {
  const rows = await dataSource.query<{ keyId: string }[]>(
    `SELECT key_id AS "keyId" FROM known_api_keys WHERE key_id = ANY ($1::uuid[]) AND NOT revoked`,
    [keyIds],
  );
  return new Set(rows.map(({ keyId }) => keyId));
}
