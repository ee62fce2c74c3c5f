import type { EntityManager } from 'typeorm';

// The callers have proved the person by a session or a sign-in token.

export interface StoredTotp {
  /** Encrypted: see sealed-secret.ts. */
  readonly secret: string;
  readonly createdAt: Date;
}

export async function findTotp(db: EntityManager, personId: string): Promise<StoredTotp | undefined> {
  const [row] = await db.query<StoredTotp[]>(
    `SELECT totp_secret AS secret, totp_created_at AS "createdAt" FROM people
      WHERE person_id = $1 AND totp_secret IS NOT NULL`,
    [personId],
  );
  return row;
}

/**
 * Uses a code: codes of this step and of earlier steps are no longer accepted. Of several requests with one code only one
 * succeeds.
 */
export async function useStep(tx: EntityManager, personId: string, secret: string, step: number): Promise<boolean> {
  const [, updated] = await tx.query<[unknown, number]>(
    `UPDATE people SET totp_last_step = $3 WHERE person_id = $1 AND totp_secret = $2 AND totp_last_step < $3`,
    [personId, secret, step],
  );
  return updated > 0;
}

export async function updateNewTotp(
  tx: EntityManager,
  personId: string,
  secret: string,
  expiresAt: Date,
): Promise<void> {
  await tx.query(`UPDATE people SET new_totp_secret = $2, new_totp_expires_at = $3 WHERE person_id = $1`, [
    personId,
    secret,
    expiresAt,
  ]);
}

/** The secret whose first code the person has not entered yet. */
export async function findNewTotp(tx: EntityManager, personId: string, now: Date): Promise<string | undefined> {
  const [row] = await tx.query<{ secret: string }[]>(
    `SELECT new_totp_secret AS secret FROM people WHERE person_id = $1 AND new_totp_expires_at > $2`,
    [personId, now],
  );
  return row?.secret;
}

/** Replaces the secret by the new one. The code that confirmed the new secret is used. */
export async function confirmNewTotp(
  tx: EntityManager,
  personId: string,
  { secret, step, now }: { readonly secret: string; readonly step: number; readonly now: Date },
): Promise<boolean> {
  const [, updated] = await tx.query<[unknown, number]>(
    `UPDATE people SET totp_secret = new_totp_secret, totp_created_at = $4, totp_last_step = $3,
                       new_totp_secret = NULL, new_totp_expires_at = NULL
      WHERE person_id = $1 AND new_totp_secret = $2 AND new_totp_expires_at > $4`,
    [personId, secret, step, now],
  );
  return updated > 0;
}

export async function deleteTotp(tx: EntityManager, personId: string): Promise<boolean> {
  const [, updated] = await tx.query<[unknown, number]>(
    `UPDATE people SET totp_secret = NULL, totp_created_at = NULL, totp_last_step = NULL
      WHERE person_id = $1 AND totp_secret IS NOT NULL`,
    [personId],
  );
  return updated > 0;
}

/** Removes the secret, and a new one that was not confirmed. */
export async function resetTotp(tx: EntityManager, personId: string): Promise<void> {
  await tx.query(
    `UPDATE people SET totp_secret = NULL, totp_created_at = NULL, totp_last_step = NULL,
                       new_totp_secret = NULL, new_totp_expires_at = NULL
      WHERE person_id = $1`,
    [personId],
  );
}
