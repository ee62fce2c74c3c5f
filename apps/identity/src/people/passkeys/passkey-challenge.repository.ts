import type { EntityManager } from 'typeorm';

type Purpose = 'sign-in' | 'registration';

interface NewPasskeyChallenge {
  readonly tokenHash: string;
  readonly purpose: Purpose;
  /** The person who registers a passkey, or the hash of the address from which a person signs in. */
  readonly subject: string;
  readonly challenge: string;
  readonly expiresAt: Date;
}

/** More open requests of a subject replace the oldest. Several people may use one address. */
const MAX_CHALLENGES_PER_SUBJECT = 50;
/** Each request needs no sign-in, so their total is limited too. It is enough for 30 requests a second. */
const MAX_CHALLENGES = 10_000;

/** Returns false if too many requests are open. */
export async function insertPasskeyChallenge(tx: EntityManager, challenge: NewPasskeyChallenge): Promise<boolean> {
  const inserted = await tx.query<unknown[]>(
    `INSERT INTO passkey_challenges (token_hash, purpose, subject, challenge, expires_at)
     SELECT $1, $2, $3, $4, $5
      WHERE (SELECT count(*) FROM (SELECT 1 FROM passkey_challenges LIMIT ${MAX_CHALLENGES}) AS counted) < ${MAX_CHALLENGES}
     RETURNING 1`,
    [challenge.tokenHash, challenge.purpose, challenge.subject, challenge.challenge, challenge.expiresAt],
  );
  if (inserted.length === 0) return false;
  await tx.query(
    `DELETE FROM passkey_challenges WHERE subject = $1 AND token_hash IN (
       SELECT token_hash FROM passkey_challenges WHERE subject = $1
        ORDER BY expires_at DESC, token_hash = $2 DESC OFFSET ${MAX_CHALLENGES_PER_SUBJECT})`,
    [challenge.subject, challenge.tokenHash],
  );
  return true;
}

/**
 * Uses a challenge. Of several requests with one token only one gets it. Undefined if it is unknown, used or expired. The
 * look-up has no owner, because only the holder of the token can compute its hash; the caller of a registration passes the
 * person.
 */
export async function consumePasskeyChallenge(
  tx: EntityManager,
  tokenHash: string,
  { purpose, subject, now }: { readonly purpose: Purpose; readonly subject?: string; readonly now: Date },
): Promise<string | undefined> {
  const [[row]] = await tx.query<[{ challenge: string }[], number]>(
    `DELETE FROM passkey_challenges
      WHERE token_hash = $1 AND purpose = $2 AND expires_at > $3 AND ($4::text IS NULL OR subject = $4)
      RETURNING challenge`,
    [tokenHash, purpose, now, subject ?? null],
  );
  return row?.challenge;
}
