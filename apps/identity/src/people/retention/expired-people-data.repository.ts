import type { EntityManager } from 'typeorm';

/** The tables whose rows expire, with the column that has the time. */
const EXPIRING = {
  invitations: 'expires_at',
  operator_invitations: 'expires_at',
  mails: 'expires_at',
  person_sessions: 'expires_at',
  sign_in_tokens: 'expires_at',
  passkey_challenges: 'expires_at',
  sign_in_failures: 'at',
} as const;

export type ExpiringTable = keyof typeof EXPIRING;

/** Deletes at most `max` rows that expired at or before this time. Returns the number. */
export async function deleteExpired(
  db: EntityManager,
  table: ExpiringTable,
  until: Date,
  max: number,
): Promise<number> {
  const column = EXPIRING[table];
  // Rows that another replica deletes at the same time are skipped.
  const [, deleted] = await db.query<[unknown, number]>(
    `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM ${table} WHERE ${column} <= $1 ORDER BY ${column} LIMIT $2 FOR UPDATE SKIP LOCKED))`,
    [until, max],
  );
  return deleted;
}
