import type { EntityManager } from 'typeorm';

/**
 * Until the transaction ends, nobody else records or replays a notification of these sessions.
 *
 * Why: the Failed and the Success of one session may be recorded by two transactions at once. Without the lock
 * neither would see the other's row, the Failed would stay pending beside the Success, and the merchant could be
 * told Failed after Success (E2). The lock is a statement of its own, so that the statements after it, each with a
 * snapshot of its own (READ COMMITTED), see what the holder before committed.
 *
 * Sorted, so that two batches do not wait for each other in a circle; across two calls in one transaction they
 * still can, and then inTransaction runs one of them again. Two sessions with one hash merely wait for each other.
 */
export async function lockSessions(tx: EntityManager, sessionIds: readonly string[]): Promise<void> {
  await tx.query(
    `SELECT pg_advisory_xact_lock(key)
       FROM (SELECT DISTINCT hashtextextended(session_id::text, 0) AS key FROM unnest($1::uuid[]) AS session_id
             ORDER BY key OFFSET 0) AS sorted`,
    [sessionIds],
  );
}
