import { MAX_PASSKEYS_PER_PERSON } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import type { EntityManager } from 'typeorm';

export interface Passkey {
  readonly passkeyId: string;
  readonly personId: string;
  /** base64url. */
  readonly credentialId: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** The public key and signature counter of a passkey, in the form of the WebAuthn library. */
export interface PasskeyKey {
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly counter: number;
}

const COLUMNS = `passkey_id AS "passkeyId", person_id AS "personId", credential_id AS "credentialId", name,
  created_at AS "createdAt", last_used_at AS "lastUsedAt"`;

/** The passkeys of a person, the oldest first. */
export function listPasskeys(db: EntityManager, personId: string): Promise<Passkey[]> {
  return db.query(
    `SELECT ${COLUMNS} FROM passkeys WHERE person_id = $1
      ORDER BY created_at, passkey_id LIMIT ${MAX_PASSKEYS_PER_PERSON}`,
    [personId],
  );
}

/** The look-up has no owner, because the signature proves the person. */
export async function findPasskeyByCredential(
  db: EntityManager,
  credentialId: string,
): Promise<(Passkey & PasskeyKey) | undefined> {
  const [row] = await db.query<(Passkey & { publicKey: Buffer; counter: number })[]>(
    `SELECT ${COLUMNS}, public_key AS "publicKey", counter FROM passkeys WHERE credential_id = $1`,
    [credentialId],
  );
  return row && { ...row, publicKey: new Uint8Array(row.publicKey) };
}

/** Throws `resource.conflict` if the credential exists. */
export async function insertPasskey(
  tx: EntityManager,
  passkey: Omit<Passkey, 'lastUsedAt'> & PasskeyKey,
): Promise<void> {
  await tx
    .query(
      `INSERT INTO passkeys (passkey_id, person_id, credential_id, public_key, counter, name, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [
        passkey.passkeyId,
        passkey.personId,
        passkey.credentialId,
        Buffer.from(passkey.publicKey),
        passkey.counter,
        passkey.name,
        passkey.createdAt,
      ],
    )
    .catch((error: unknown) => {
      if (!isUniqueViolation(error, 'passkeys_credential')) throw error;
      throw new DomainError('resource.conflict', { message: 'This passkey is registered already.', cause: error });
    });
}

/**
 * Records a use. False if another request has used the passkey with this or a higher counter meanwhile. An authenticator
 * that does not count always sends 0.
 */
export async function updateCounter(
  tx: EntityManager,
  passkeyId: string,
  counter: number,
  now: Date,
): Promise<boolean> {
  const [, updated] = await tx.query<[unknown, number]>(
    `UPDATE passkeys SET counter = $2, last_used_at = $3
      WHERE passkey_id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0))`,
    [passkeyId, counter, now],
  );
  return updated > 0;
}

export async function deletePasskeys(tx: EntityManager, personId: string): Promise<void> {
  await tx.query(`DELETE FROM passkeys WHERE person_id = $1`, [personId]);
}

/** Returns whether the person had this passkey. */
export async function deletePasskey(tx: EntityManager, personId: string, passkeyId: string): Promise<boolean> {
  const [, deleted] = await tx.query<[unknown, number]>(
    `DELETE FROM passkeys WHERE person_id = $1 AND passkey_id = $2`,
    [personId, passkeyId],
  );
  return deleted > 0;
}
