import type { EntityManager } from 'typeorm';

/** Prevents other transactions from counting failures of this subject until this transaction ends. */
export async function lockSubject(tx: EntityManager, subject: string): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [subject]);
}

/** The times of the newest failures of a subject after `since`, the newest first. */
export async function findNewestFailures(
  tx: EntityManager,
  subject: string,
  since: Date,
  max: number,
): Promise<Date[]> {
  const rows = await tx.query<{ at: Date }[]>(
    `SELECT at FROM sign_in_failures WHERE subject = $1 AND at > $2 ORDER BY at DESC LIMIT $3`,
    [subject, since, max],
  );
  return rows.map(({ at }) => at);
}

export async function insertFailure(db: EntityManager, attemptId: string, subject: string, at: Date): Promise<void> {
  await db.query(`INSERT INTO sign_in_failures (attempt_id, subject, at) VALUES ($1, $2, $3)`, [
    attemptId,
    subject,
    at,
  ]);
}

export async function deleteFailure(db: EntityManager, attemptId: string, subject: string): Promise<void> {
  await db.query(`DELETE FROM sign_in_failures WHERE attempt_id = $1 AND subject = $2`, [attemptId, subject]);
}
