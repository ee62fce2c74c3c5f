import type { EntityManager } from 'typeorm';

/**
 * Until the transaction ends, nobody else records or replays a notification of these sessions: `record_notifications`
 * takes the same locks, by the same function of the database.
 *
 * Why: the Failed and the Success of one session may be recorded by two statements at once. Without the lock
 * neither would see the other's row, the Failed would stay pending beside the Success, and the merchant could be
 * told Failed after Success (E2). The lock is a statement of its own, so that the statements after it, each with a
 * snapshot of its own (READ COMMITTED), see what the holder before committed.
 *
 * Once in a transaction: the locks of one call are taken in order, those of a second would not come after those of the
 * first, and two transactions could wait for each other. Two sessions with one hash merely wait for each other.
 */
export async function lockSessions(tx: EntityManager, sessionIds: readonly string[]): Promise<void> {
  await tx.query(`SELECT lock_sessions($1)`, [sessionIds]);
}
