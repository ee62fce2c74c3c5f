import { MAX_WRONG_CODES_PER_SIGN_IN } from '@svc/contracts';
import type { EntityManager } from 'typeorm';

/** `password`: the password was right, the second factor follows. `link`: a sign-in link of development. */
type TokenKind = 'password' | 'link';

/** Of each kind. If a person begins more sign-ins, the oldest must begin again. */
const MAX_TOKENS_PER_PERSON = 5;

interface NewSignInToken {
  readonly tokenHash: string;
  readonly kind: TokenKind;
  readonly personId: string;
  readonly expiresAt: Date;
}

/** The caller has locked the person, so that concurrent sign-ins do not exceed the limit. */
export async function insertSignInToken(tx: EntityManager, token: NewSignInToken): Promise<void> {
  await tx.query(
    `INSERT INTO sign_in_tokens (token_hash, kind, person_id, codes, expires_at) VALUES ($1, $2, $3, 0, $4)`,
    [token.tokenHash, token.kind, token.personId, token.expiresAt],
  );
  await tx.query(
    `DELETE FROM sign_in_tokens WHERE person_id = $1 AND token_hash IN (
       SELECT token_hash FROM sign_in_tokens WHERE person_id = $1 AND kind = $2
        ORDER BY expires_at DESC, token_hash = $3 DESC OFFSET ${MAX_TOKENS_PER_PERSON})`,
    [token.personId, token.kind, token.tokenHash],
  );
}

/**
 * Counts a code for a sign-in before the code is checked, and returns the person. Undefined if the sign-in is unknown,
 * used or expired, or already had five codes. The look-ups of tokens have no owner, because only the holder of a token can
 * compute its hash.
 */
export async function countCode(db: EntityManager, tokenHash: string, now: Date): Promise<string | undefined> {
  const [[row]] = await db.query<[{ personId: string }[], number]>(
    `UPDATE sign_in_tokens SET codes = codes + 1
      WHERE token_hash = $1 AND kind = 'password' AND expires_at > $2 AND codes < ${MAX_WRONG_CODES_PER_SIGN_IN}
      RETURNING person_id AS "personId"`,
    [tokenHash, now],
  );
  return row?.personId;
}

/** Uses a token and returns its person. Of several requests with one token only one gets the person. */
export async function consumeSignInToken(
  tx: EntityManager,
  kind: TokenKind,
  tokenHash: string,
  now: Date,
): Promise<string | undefined> {
  const [[row]] = await tx.query<[{ personId: string }[], number]>(
    `DELETE FROM sign_in_tokens WHERE token_hash = $1 AND kind = $2 AND expires_at > $3
     RETURNING person_id AS "personId"`,
    [tokenHash, kind, now],
  );
  return row?.personId;
}

/** Ends all sign-ins of a person that have begun. */
export async function deleteSignInTokens(tx: EntityManager, personId: string): Promise<void> {
  await tx.query(`DELETE FROM sign_in_tokens WHERE person_id = $1`, [personId]);
}
