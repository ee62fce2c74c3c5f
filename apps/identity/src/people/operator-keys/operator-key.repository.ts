import type { OperatorRole } from '@svc/contracts';
import type { EntityManager } from 'typeorm';
import type { ListedOperatorKey, OperatorKey } from './operator-key.js';

// Keys of operators belong to the platform, so that an administrator finds each of them. A row is never deleted: after
// the first key with the role operator the shared key is refused.

/** Maximum number of keys in the list. Older keys are omitted. */
const MAX_LISTED = 200;

const COLUMNS = `key_id AS "keyId", person_id AS "personId", role, hash, prefix, created_at AS "createdAt",
  expires_at AS "expiresAt", revoked_at AS "revokedAt", version`;

export async function insertOperatorKey(tx: EntityManager, key: OperatorKey): Promise<void> {
  await tx.query(
    `INSERT INTO operator_keys (key_id, person_id, role, hash, prefix, created_at, expires_at, version)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [key.keyId, key.personId, key.role, key.hash, key.prefix, key.createdAt, key.expiresAt, key.version],
  );
}

export async function countValidOperatorKeys(tx: EntityManager, personId: string, now: Date): Promise<number> {
  const [row] = await tx.query<[{ keys: number }]>(
    `SELECT count(*) AS keys FROM operator_keys WHERE person_id = $1 AND revoked_at IS NULL AND expires_at > $2`,
    [personId, now],
  );
  return row.keys;
}

/** The newest keys, including those that have ended. */
export function listOperatorKeys(db: EntityManager): Promise<ListedOperatorKey[]> {
  return db.query(
    `SELECT ${COLUMNS}, (SELECT email FROM people p WHERE p.person_id = operator_keys.person_id) AS email
       FROM operator_keys ORDER BY key_id DESC LIMIT ${MAX_LISTED}`,
  );
}

/** Undefined if no key has this id. */
export async function findOperatorKey(tx: EntityManager, keyId: string): Promise<OperatorKey | undefined> {
  const [key] = await tx.query<OperatorKey[]>(`SELECT ${COLUMNS} FROM operator_keys WHERE key_id = $1`, [keyId]);
  return key;
}

/** Revokes a key. Undefined if it was revoked already. */
export async function revokeOperatorKey(
  tx: EntityManager,
  keyId: string,
  revokedAt: Date,
): Promise<OperatorKey | undefined> {
  const [[key]] = await tx.query<[OperatorKey[], number]>(
    `UPDATE operator_keys SET revoked_at = $2, version = version + 1 WHERE key_id = $1 AND revoked_at IS NULL
     RETURNING ${COLUMNS}`,
    [keyId, revokedAt],
  );
  return key;
}

/** Revokes the keys of a person that have one of these roles. Returns them. */
export async function revokeKeysOfOperator(
  tx: EntityManager,
  personId: string,
  roles: readonly OperatorRole[],
  revokedAt: Date,
): Promise<OperatorKey[]> {
  const [keys] = await tx.query<[OperatorKey[], number]>(
    `UPDATE operator_keys SET revoked_at = $3, version = version + 1
      WHERE person_id = $1 AND role = ANY ($2) AND revoked_at IS NULL
     RETURNING ${COLUMNS}`,
    [personId, roles, revokedAt],
  );
  return keys;
}
