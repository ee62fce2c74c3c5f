import { createHash, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import type { PartnerScope } from '../users/user.js';
import { LoginAttemptRepository } from './login-attempt.repository.js';
import { MAX_COUNTED_ADDRESS_FAILURES, MAX_EMAIL_FAILURES, requiredCustomers } from './login-limit.js';

const WINDOW_MS = 15 * 60_000;
/** A day of logins distinguishes a partner's server from a single customer, also at times with few logins. */
const SUCCESS_RETENTION_MS = 24 * 60 * 60_000;

/** A login that is counted for its email. The caller calls exactly one method at the end. */
export interface LoginAttempt {
  /** The password was right: removes the failure and increases the limit of the address. */
  succeeded(): Promise<void>;
  /** Counts the failure for the address too. */
  failed(): Promise<void>;
  /** The password was not checked: removes the failure. */
  notAttempted(): Promise<void>;
}

/**
 * Counts failed logins for each email and each address, over all replicas (A5). Each organisation has its own counts, so that
 * its customers cannot lock out those of another one.
 *
 * - For an email, an attempt is counted before the check of the password: of any number of concurrent guesses, five are checked.
 * - For an address, a failure is counted afterwards, so that a burst of right passwords is not rejected. Concurrent guesses may
 *   exceed the limit by the size of the password queue.
 */
@Injectable()
export class LoginLimits {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LoginAttemptRepository) private readonly attempts: LoginAttemptRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `request.rate-limited` after too many failures of the email, known or not, or of the address. */
  async begin({ organisationId, mode }: PartnerScope, email: string, address: string): Promise<LoginAttempt> {
    const emailHash = hashOf('email', organisationId, mode, email);
    const addressHash = hashOf('address', organisationId, mode, address);
    const attemptId = randomUUID();
    await inTransaction(this.dataSource, async (tx) => {
      await this.attempts.lock(tx, emailHash);
      await this.attempts.deleteFailuresUntil(tx, this.before(WINDOW_MS));
      await this.attempts.deleteSuccessesUntil(tx, this.before(SUCCESS_RETENTION_MS));
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
      this.before(WINDOW_MS),
      MAX_EMAIL_FAILURES,
    );
    if (failures >= MAX_EMAIL_FAILURES) throw this.rateLimited(oldest);
  }

  /** Does not depend on the email or the password, so it reveals neither. */
  private async checkAddressLimit(tx: EntityManager, address: string): Promise<void> {
    const { failures, oldest } = await this.attempts.countFailures(
      tx,
      address,
      this.before(WINDOW_MS),
      MAX_COUNTED_ADDRESS_FAILURES,
    );
    const required = requiredCustomers(failures);
    if (required === 0) return;
    if (required !== undefined) {
      const customers = await this.attempts.countCustomers(tx, address, this.before(SUCCESS_RETENTION_MS), required);
      if (customers >= required) return;
    }
    throw this.rateLimited(oldest);
  }

  private before(ms: number): Date {
    return new Date(this.clock.now().getTime() - ms);
  }

  private rateLimited(oldest: Date): DomainError {
    const waitMs = oldest.getTime() + WINDOW_MS - this.clock.now().getTime();
    return new DomainError('request.rate-limited', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
  }
}

/** The tables store only hashes of emails and addresses. */
function hashOf(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
