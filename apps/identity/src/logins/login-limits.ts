import { createHash, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import type { PartnerScope } from '../users/user.js';
import { LoginAttemptRepository } from './login-attempt.repository.js';
import { MAX_COUNTED_ADDRESS_FAILURES, MAX_EMAIL_FAILURES, requiredCustomers } from './login-limit.js';

const WINDOW_MS = 15 * 60_000;
/** Successful logins count for a day, so that an address has customers even at times with few logins. */
const SUCCESS_RETENTION_MS = 24 * 60 * 60_000;

/**
 * A login in progress. It already counts as a failure of its email. At the end, the caller must call exactly one of the
 * methods.
 */
interface LoginAttempt {
  /** Call this if the password was right. Removes the failure of the email, and increases the limit of the address. */
  succeeded(): Promise<void>;
  /** Call this if the login failed. Counts a failure of the address too. */
  failed(): Promise<void>;
  /** Call this if the password was not checked. Removes the failure of the email. */
  notAttempted(): Promise<void>;
}

/**
 * Counts failed logins of each email and each IP address (A5). All replicas share the counts. Each organisation has its
 * own counts, so that failures at one organisation do not lock out customers of another organisation.
 *
 * - An attempt counts for its email before the password is checked. Therefore only five guesses are checked, even if
 *   many guesses are sent concurrently.
 * - A failure counts for its address after the password is checked. Therefore many concurrent logins with right
 *   passwords are not rejected. Concurrent guesses may exceed the limit of the address, but at most by the size of the
 *   password queue.
 */
@Injectable()
export class LoginLimits {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LoginAttemptRepository) private readonly attempts: LoginAttemptRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `request.rate-limited` after too many failures of the address or of the email, even of an unknown email. */
  async begin({ organisationId, mode }: PartnerScope, email: string, address: string): Promise<LoginAttempt> {
    const emailHash = computeHash('email', organisationId, mode, email);
    const addressHash = computeHash('address', organisationId, mode, address);
    const attemptId = randomUUID();
    await inTransaction(this.dataSource, async (tx) => {
      await this.attempts.lock(tx, emailHash);
      await this.attempts.deleteFailuresUntil(tx, this.timeBefore(WINDOW_MS));
      await this.attempts.deleteSuccessesUntil(tx, this.timeBefore(SUCCESS_RETENTION_MS));
      await this.checkEmailLimit(tx, emailHash);
      await this.checkAddressLimit(tx, addressHash);
      await this.attempts.insertFailure(tx, attemptId, emailHash, this.clock.now());
    });
    const deleteFailure = (): Promise<void> => this.attempts.deleteFailure(attemptId, emailHash);
    return {
      failed: () => this.attempts.insertFailure(this.dataSource, attemptId, addressHash, this.clock.now()),
      notAttempted: deleteFailure,
      succeeded: async () => {
        await deleteFailure();
        await this.attempts.upsertSuccess(addressHash, emailHash, this.clock.now());
      },
    };
  }

  private async checkEmailLimit(tx: EntityManager, email: string): Promise<void> {
    const { failures, oldest } = await this.attempts.countFailures(
      tx,
      email,
      this.timeBefore(WINDOW_MS),
      MAX_EMAIL_FAILURES,
    );
    if (failures >= MAX_EMAIL_FAILURES) throw this.createRateLimitError(oldest);
  }

  /** The result does not depend on the email or the password, so it reveals nothing about them. */
  private async checkAddressLimit(tx: EntityManager, address: string): Promise<void> {
    const { failures, oldest } = await this.attempts.countFailures(
      tx,
      address,
      this.timeBefore(WINDOW_MS),
      MAX_COUNTED_ADDRESS_FAILURES,
    );
    const requiredCount = requiredCustomers(failures);
    if (requiredCount === 0) return;
    if (requiredCount !== undefined) {
      const customers = await this.attempts.countCustomers(
        tx,
        address,
        this.timeBefore(SUCCESS_RETENTION_MS),
        requiredCount,
      );
      if (customers >= requiredCount) return;
    }
    throw this.createRateLimitError(oldest);
  }

  private timeBefore(ms: number): Date {
    return new Date(this.clock.now().getTime() - ms);
  }

  private createRateLimitError(oldest: Date): DomainError {
    const waitMs = oldest.getTime() + WINDOW_MS - this.clock.now().getTime();
    return new DomainError('request.rate-limited', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
  }
}

/** Hashes an email or an address, because the tables store only hashes of them. */
function computeHash(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
