import { createHash, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { MAX_WRONG_CODES, MAX_WRONG_PASSWORDS, MAX_WRONG_PASSWORDS_PER_ADDRESS } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { networkOf } from '@svc/outbound';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import { deleteFailure, findNewestFailures, insertFailure, lockSubject } from './sign-in-failure.repository.js';
import { closedUntil, FAILURE_RETENTION_MS } from './sign-in-limit.js';

/**
 * A check in progress. It already counts as a failure of its email or person. At the end, the caller must call exactly one
 * of the methods.
 */
interface Attempt {
  /** Call this if the proof was wrong. Counts a failure of the address too. */
  failed(): Promise<void>;
  /** Call this if the proof was right, or was not checked. Removes the failure. */
  notFailed(): Promise<void>;
}

/**
 * Counts wrong passwords of each email and of each address, and wrong codes of each person. All replicas share the counts.
 *
 * - An attempt counts before the check, under a lock. Therefore no further guess is checked after the limit, even if many
 *   guesses are sent concurrently.
 * - An address is an IPv4 address or an IPv6 network of 64 bits: see {@link networkOf}.
 * - A failure counts for its address after the check. Concurrent guesses may exceed the limit of the address, but at most
 *   by the size of the password queue.
 * - Passkeys have no limit, because they cannot be guessed. So an attacker who closes the password of a person does not
 *   lock the person out.
 */
@Injectable()
export class SignInLimits {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `request.rate-limited` while the password or the address is closed, also for an unknown email. */
  beginPassword(email: string, address: string): Promise<Attempt> {
    const addressHash = computeHash('address', networkOf(address) ?? address);
    return this.begin(computeHash('password', email), MAX_WRONG_PASSWORDS, addressHash);
  }

  /** Throws `request.rate-limited` while the codes of the person are closed. */
  beginCode(personId: string): Promise<Attempt> {
    return this.begin(computeHash('code', personId), MAX_WRONG_CODES);
  }

  private async begin(subject: string, max: number, address?: string): Promise<Attempt> {
    const attemptId = randomUUID();
    const { manager } = this.dataSource;
    await inTransaction(this.dataSource, async (tx) => {
      await lockSubject(tx, subject);
      await this.requireOpen(tx, subject, max);
      if (address !== undefined) await this.requireOpen(tx, address, MAX_WRONG_PASSWORDS_PER_ADDRESS);
      await insertFailure(tx, attemptId, subject, this.clock.now());
    });
    return {
      failed: async () => {
        if (address !== undefined) await insertFailure(manager, attemptId, address, this.clock.now());
      },
      notFailed: () => deleteFailure(manager, attemptId, subject),
    };
  }

  private async requireOpen(tx: EntityManager, subject: string, max: number): Promise<void> {
    const now = this.clock.now();
    const end = closedUntil(
      await findNewestFailures(tx, subject, this.clock.later(-FAILURE_RETENTION_MS), max),
      max,
      now,
    );
    if (!end) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((end.getTime() - now.getTime()) / 1000));
    throw new DomainError('request.rate-limited', { retryAfterSeconds });
  }
}

/** Hashes an email or an address, because the table stores only hashes of them. */
function computeHash(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
