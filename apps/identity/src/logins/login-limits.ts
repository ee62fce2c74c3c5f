import { createHash, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import type { PartnerScope } from '../users/user.js';

const WINDOW_MS = 15 * 60_000;
/** Failures in the window after which an email, or an address, has to wait (A5). Partners' servers share an address. */
export const FAILURES_OF_EMAIL_MAX = 5;
export const FAILURES_OF_ADDRESS_MAX = 100;
/** Rows that ran out and are cleared by one login; more than one login writes. */
const CLEARED_AT_ONCE = 20;

interface Subject {
  readonly hash: string;
  readonly max: number;
}

/**
 * Counts failed logins for each email and each address, on every replica together (A5); of one organisation, so that
 * nobody's customers are locked out by another's. A try is counted before the
 * password is looked at and taken back when it was right: of any number of guesses at once, five are looked at.
 */
@Injectable()
export class LoginLimits {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Throws `request.rate-limited` when email or address has failed too often, whether the email is known or not. Returns
   * what takes the try back.
   */
  async begin({ organisationId, mode }: PartnerScope, email: string, address: string): Promise<() => Promise<void>> {
    const subjects: Subject[] = [
      { hash: hashOf('email', organisationId, mode, email), max: FAILURES_OF_EMAIL_MAX },
      { hash: hashOf('address', organisationId, mode, address), max: FAILURES_OF_ADDRESS_MAX },
    ];
    const attemptId = randomUUID();
    await inTransaction(this.dataSource, async (tx) => {
      await this.refuseWhenOver(tx, subjects);
      await tx.query(
        `INSERT INTO login_failures (attempt_id, subject, at) SELECT $1, subject, $3 FROM unnest($2::text[]) AS subject`,
        [attemptId, subjects.map(({ hash }) => hash), this.clock.now()],
      );
    });
    return async () => {
      await this.dataSource.query(`DELETE FROM login_failures WHERE attempt_id = $1`, [attemptId]);
    };
  }

  private async refuseWhenOver(tx: EntityManager, subjects: readonly Subject[]): Promise<void> {
    const hashes = subjects.map(({ hash }) => hash);
    const now = this.clock.now();
    const begin = new Date(now.getTime() - WINDOW_MS);
    // In one order, so that two logins that share both never wait for each other.
    for (const hash of hashes.toSorted())
      await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [hash]);
    await tx.query(
      `DELETE FROM login_failures WHERE (attempt_id, subject) IN (
         SELECT attempt_id, subject FROM login_failures WHERE at <= $1 ORDER BY at LIMIT ${CLEARED_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
      [begin],
    );
    const rows = await tx.query<{ subject: string; failures: number; oldest: Date }[]>(
      `SELECT subject, count(*) AS failures, min(at) AS oldest FROM login_failures
        WHERE subject = ANY($1) AND at > $2 GROUP BY subject`,
      [hashes, begin],
    );
    for (const { subject, failures, oldest } of rows) {
      const max = subjects.find(({ hash }) => hash === subject)!.max;
      if (failures < max) continue;
      const retryAfterSeconds = Math.max(1, Math.ceil((oldest.getTime() + WINDOW_MS - now.getTime()) / 1000));
      throw new DomainError('request.rate-limited', { retryAfterSeconds });
    }
  }
}

/** Neither emails that nobody has, nor addresses, are kept as such. */
function hashOf(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
