import type { DataSource } from 'typeorm';

/**
 * Which of these keys of merchants and sites are not revoked. For a connection that outlives its request: the guard has let
 * it in once, and a key that was revoked since must not keep it open. Needs what {@link MerchantKeyGuard} needs.
 */
export async function findActiveKeys(dataSource: DataSource, keyIds: readonly string[]): Promise<Set<string>> {
  const rows = await dataSource.query<{ keyId: string }[]>(
    `SELECT key_id AS "keyId" FROM known_api_keys WHERE key_id = ANY ($1::uuid[]) AND NOT revoked`,
    [keyIds],
  );
  return new Set(rows.map(({ keyId }) => keyId));
}
