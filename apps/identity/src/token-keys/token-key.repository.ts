import type { EntityManager } from 'typeorm';
import type { TokenKey } from './token-key.js';

/** Key of the PostgreSQL advisory lock. The number has no meaning, but no other lock may use it. */
const TOKEN_KEYS_LOCK = 1763500000110;

/** A key with its encrypted private key. */
export interface SealedTokenKey extends TokenKey {
  readonly sealedPrivateKey: string;
}

/**
 * Prevents other transactions from creating or withdrawing keys until this transaction ends, so that two replicas do
 * not both create a key.
 */
export async function lockTokenKeys(tx: EntityManager): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock($1)`, [TOKEN_KEYS_LOCK]);
}

/** The keys that are not withdrawn, newest first. */
export function findTokenKeys(db: EntityManager): Promise<SealedTokenKey[]> {
  return db.query(
    `SELECT kid, public_jwk AS "publicJwk", sealed_private_key AS "sealedPrivateKey", created_at AS "createdAt",
            signs_from AS "signsFrom", withdrawn_at AS "withdrawnAt", version
       FROM token_keys WHERE withdrawn_at IS NULL ORDER BY signs_from DESC`,
  );
}

export async function insertTokenKey(tx: EntityManager, key: SealedTokenKey): Promise<void> {
  await tx.query(
    `INSERT INTO token_keys (kid, public_jwk, sealed_private_key, created_at, signs_from, version)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [key.kid, JSON.stringify(key.publicJwk), key.sealedPrivateKey, key.createdAt, key.signsFrom, key.version],
  );
}

/** Returns the withdrawn key with its next version. */
export async function withdrawTokenKey(tx: EntityManager, key: TokenKey, withdrawnAt: Date): Promise<TokenKey> {
  const withdrawn = { ...key, withdrawnAt, version: key.version + 1 };
  await tx.query(`UPDATE token_keys SET withdrawn_at = $2, version = $3 WHERE kid = $1`, [
    key.kid,
    withdrawnAt,
    withdrawn.version,
  ]);
  return withdrawn;
}
