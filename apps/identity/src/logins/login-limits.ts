import { createHash, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import type { PartnerScope } from '../users/user.js';
import { customersNeeded, FAILURES_OF_ADDRESS_COUNTED_MAX, FAILURES_OF_EMAIL_MAX } from './login-limit.js';

const WINDOW_MS = 15 * 60_000;
/** A day of logins tells a partner's server from a single customer, also in a quiet quarter of an hour. */
const SUCCESSES_KEPT_MS = 24 * 60 * 60_000;
/** Rows that ran out and are cleared by one login; more than one login writes. */
const CLEARED_AT_ONCE = 20;

/** A login that was counted for its email. Exactly one of its methods is called when it has ended. */
export interface CountedLogin {
  /** The password was right: it was no failure, and the address's limit grows. */
  succeeded(): Promise<void>;
  /** It stays counted for the email, and is counted for the address too. */
  failed(): Promise<void>;
  /** The password was not looked at: it was no guess. */
  notTried(): Promise<void>;
}

/**
 * Counts failed logins for each email and each address, on every replica together (A5); of one organisation, so that
 * the customers of one are not locked out by those of another.
 *
 * - Of an email a try is counted before the password is looked at: of any number of guesses at once, five are looked at.
 * - Of an address a failure is counted when it has happened, so that a burst of right passwords locks out none of them;
 *   guesses under way when the limit is reached may go over it, as many as the queue for passwords takes.
 */
@Injectable()
export class LoginLimits {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `request.rate-limited` when email or address has failed too often, whether the email is known or not. */
  async begin({ organisationId, mode }: PartnerScope, email: string, address: string): Promise<CountedLogin> {
    const ofEmail = hashOf('email', organisationId, mode, email);
    const ofAddress = hashOf('address', organisationId, mode, address);
    const attemptId = randomUUID();
    await inTransaction(this.dataSource, async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [ofEmail]);
      await this.clear(tx);
      await this.refuseOverLimitOfEmail(tx, ofEmail);
      await this.refuseOverLimitOfAddress(tx, ofAddress);
      await this.count(tx, attemptId, ofEmail);
    });
    const takeBack = (): Promise<unknown> =>
      this.dataSource.query(`DELETE FROM login_failures WHERE attempt_id = $1 AND subject = $2`, [attemptId, ofEmail]);
    return {
      failed: () => this.count(this.dataSource, attemptId, ofAddress),
      notTried: async () => void (await takeBack()),
      succeeded: async () => {
        await takeBack();
        await this.dataSource.query(
          `INSERT INTO login_successes (address, email, at) VALUES ($1, $2, $3)
           ON CONFLICT (address, email) DO UPDATE SET at = greatest(login_successes.at, excluded.at)`,
          [ofAddress, ofEmail, this.clock.now()],
        );
      },
    };
  }

  private async refuseOverLimitOfEmail(tx: EntityManager, email: string): Promise<void> {
    const { failures, oldest } = await this.failuresOf(tx, email, FAILURES_OF_EMAIL_MAX);
    if (failures >= FAILURES_OF_EMAIL_MAX) throw this.rateLimited(oldest);
  }

  /** Says the same to every email, known or not, and to a right password: it is no way to find out either. */
  private async refuseOverLimitOfAddress(tx: EntityManager, address: string): Promise<void> {
    const { failures, oldest } = await this.failuresOf(tx, address, FAILURES_OF_ADDRESS_COUNTED_MAX);
    const needed = customersNeeded(failures);
    if (needed === 0) return;
    if (needed !== undefined) {
      const [row] = await tx.query<[{ customers: number }]>(
        `SELECT count(*) AS customers FROM (
           SELECT 1 FROM login_successes WHERE address = $1 AND at > $2 LIMIT $3) AS seen`,
        [address, this.before(SUCCESSES_KEPT_MS), needed],
      );
      if (row.customers >= needed) return;
    }
    throw this.rateLimited(oldest);
  }

  /** In the window, counted up to `max`, and when the oldest was. */
  private async failuresOf(
    tx: EntityManager,
    subject: string,
    max: number,
  ): Promise<{ failures: number; oldest: Date }> {
    const [row] = await tx.query<[{ failures: number; oldest: Date }]>(
      `SELECT count(*) AS failures, min(at) AS oldest FROM (
         SELECT at FROM login_failures WHERE subject = $1 AND at > $2 ORDER BY at LIMIT $3) AS counted`,
      [subject, this.before(WINDOW_MS), max],
    );
    return row;
  }

  private async count(db: Pick<EntityManager, 'query'>, attemptId: string, subject: string): Promise<void> {
    await db.query(`INSERT INTO login_failures (attempt_id, subject, at) VALUES ($1, $2, $3)`, [
      attemptId,
      subject,
      this.clock.now(),
    ]);
  }

  private async clear(tx: EntityManager): Promise<void> {
    await tx.query(
      `DELETE FROM login_failures WHERE (attempt_id, subject) IN (
         SELECT attempt_id, subject FROM login_failures WHERE at <= $1 ORDER BY at LIMIT ${CLEARED_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
      [this.before(WINDOW_MS)],
    );
    await tx.query(
      `DELETE FROM login_successes WHERE (address, email) IN (
         SELECT address, email FROM login_successes WHERE at <= $1 ORDER BY at LIMIT ${CLEARED_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
      [this.before(SUCCESSES_KEPT_MS)],
    );
  }

  private before(ms: number): Date {
    return new Date(this.clock.now().getTime() - ms);
  }

  private rateLimited(oldest: Date): DomainError {
    const waitMs = oldest.getTime() + WINDOW_MS - this.clock.now().getTime();
    return new DomainError('request.rate-limited', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
  }
}

/** Neither emails that nobody has, nor addresses, are kept as such. */
function hashOf(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
