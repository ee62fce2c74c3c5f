import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

/** Maximum number of expired rows that each login deletes. A login inserts fewer rows, so the tables stay small. */
const CLEANUP_BATCH_SIZE = 20;

/** Stores failed and successful logins. A subject is the hash of an email or of an address. */
@Injectable()
export class LoginAttemptRepository {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Prevents other transactions from counting logins of this subject until this transaction ends. */
  async lock(tx: EntityManager, subject: string): Promise<void> {
    await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [subject]);
  }

  async insertFailure(db: Pick<EntityManager, 'query'>, attemptId: string, subject: string, at: Date): Promise<void> {
    await db.query(`INSERT INTO login_failures (attempt_id, subject, at) VALUES ($1, $2, $3)`, [
      attemptId,
      subject,
      at,
    ]);
  }

  async deleteFailure(attemptId: string, subject: string): Promise<void> {
    await this.dataSource.query(`DELETE FROM login_failures WHERE attempt_id = $1 AND subject = $2`, [
      attemptId,
      subject,
    ]);
  }

  /** Returns the number of failures since a time, counted up to `max`, and the time of the oldest of these failures. */
  async countFailures(
    tx: EntityManager,
    subject: string,
    since: Date,
    max: number,
  ): Promise<{ failures: number; oldest: Date }> {
    const [row] = await tx.query<[{ failures: number; oldest: Date }]>(
      `SELECT count(*) AS failures, min(at) AS oldest FROM (
         SELECT at FROM login_failures WHERE subject = $1 AND at > $2 ORDER BY at LIMIT $3) AS counted`,
      [subject, since, max],
    );
    return row;
  }

  async upsertSuccess(address: string, email: string, at: Date): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO login_successes (address, email, at) VALUES ($1, $2, $3)
           ON CONFLICT (address, email) DO UPDATE SET at = greatest(login_successes.at, excluded.at)`,
      [address, email, at],
    );
  }

  /** Returns the number of customers who logged in from an address since a time, counted up to `max`. */
  async countCustomers(tx: EntityManager, address: string, since: Date, max: number): Promise<number> {
    const [row] = await tx.query<[{ customers: number }]>(
      `SELECT count(*) AS customers FROM (
           SELECT 1 FROM login_successes WHERE address = $1 AND at > $2 LIMIT $3) AS seen`,
      [address, since, max],
    );
    return row.customers;
  }

  async deleteFailuresUntil(tx: EntityManager, until: Date): Promise<void> {
    await tx.query(
      `DELETE FROM login_failures WHERE (attempt_id, subject) IN (
         SELECT attempt_id, subject FROM login_failures WHERE at <= $1 ORDER BY at LIMIT ${CLEANUP_BATCH_SIZE} FOR UPDATE SKIP LOCKED)`,
      [until],
    );
  }

  async deleteSuccessesUntil(tx: EntityManager, until: Date): Promise<void> {
    await tx.query(
      `DELETE FROM login_successes WHERE (address, email) IN (
         SELECT address, email FROM login_successes WHERE at <= $1 ORDER BY at LIMIT ${CLEANUP_BATCH_SIZE} FOR UPDATE SKIP LOCKED)`,
      [until],
    );
  }
}
