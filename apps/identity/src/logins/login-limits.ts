import { createHash, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import type { PartnerScope } from '../users/user.js';
import { LoginAttemptRepository } from './login-attempt.repository.js';
import { customersNeeded, FAILURES_OF_ADDRESS_COUNTED_MAX, FAILURES_OF_EMAIL_MAX } from './login-limit.js';

const WINDOW_MS = 15 * 60_000;
/** A day of logins tells a partner's server from a single customer, also in a quiet quarter of an hour. */
const SUCCESSES_KEPT_MS = 24 * 60 * 60_000;

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
    @Inject(LoginAttemptRepository) private readonly attempts: LoginAttemptRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `request.rate-limited` when email or address has failed too often, whether the email is known or not. */
  async begin({ organisationId, mode }: PartnerScope, email: string, address: string): Promise<CountedLogin> {
    const ofEmail = hashOf('email', organisationId, mode, email);
    const ofAddress = hashOf('address', organisationId, mode, address);
    const attemptId = randomUUID();
    await inTransaction(this.dataSource, async (tx) => {
      await this.attempts.lock(tx, ofEmail);
      await this.attempts.deleteFailuresUntil(tx, this.before(WINDOW_MS));
      await this.attempts.deleteSuccessesUntil(tx, this.before(SUCCESSES_KEPT_MS));
      await this.refuseOverLimitOfEmail(tx, ofEmail);
      await this.refuseOverLimitOfAddress(tx, ofAddress);
      await this.attempts.insertFailure(tx, attemptId, ofEmail, this.clock.now());
    });
    const takeBack = (): Promise<void> => this.attempts.deleteFailure(attemptId, ofEmail);
    return {
      failed: () => this.attempts.insertFailure(this.dataSource, attemptId, ofAddress, this.clock.now()),
      notTried: takeBack,
      succeeded: async () => {
        await takeBack();
        await this.attempts.upsertSuccess(ofAddress, ofEmail, this.clock.now());
      },
    };
  }

  private async refuseOverLimitOfEmail(tx: EntityManager, email: string): Promise<void> {
    const { failures, oldest } = await this.attempts.countFailures(
      tx,
      email,
      this.before(WINDOW_MS),
      FAILURES_OF_EMAIL_MAX,
    );
    if (failures >= FAILURES_OF_EMAIL_MAX) throw this.rateLimited(oldest);
  }

  /** Says the same to every email, known or not, and to a right password: it is no way to find out either. */
  private async refuseOverLimitOfAddress(tx: EntityManager, address: string): Promise<void> {
    const { failures, oldest } = await this.attempts.countFailures(
      tx,
      address,
      this.before(WINDOW_MS),
      FAILURES_OF_ADDRESS_COUNTED_MAX,
    );
    const needed = customersNeeded(failures);
    if (needed === 0) return;
    if (needed !== undefined) {
      const customers = await this.attempts.countCustomers(tx, address, this.before(SUCCESSES_KEPT_MS), needed);
      if (customers >= needed) return;
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

/** Neither emails that nobody has, nor addresses, are kept as such. */
function hashOf(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
