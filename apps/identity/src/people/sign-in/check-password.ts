import { randomBytes } from 'node:crypto';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { hashPassword } from '../../users/password.js';
import { PasswordQueue } from '../../users/password-queue.js';
import { PEOPLE_QUEUE } from '../person/person.js';
import { findPersonByEmail, type PersonWithPassword } from '../person/person.repository.js';
import { SignInLimits } from './sign-in-limits.js';

/**
 * Checks the password of a person. The response to an unknown email and to a wrong password is the same, and takes the
 * same time, because both execute the same queries and one hash.
 */
@Injectable()
export class CheckPassword implements OnModuleInit {
  /** Hash of a random password. The password for an unknown email is compared with this hash. */
  private dummyHash = '';

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(SignInLimits) private readonly limits: SignInLimits,
    @Inject(PasswordQueue) private readonly passwords: PasswordQueue,
  ) {}

  async onModuleInit(): Promise<void> {
    this.dummyHash = await hashPassword(randomBytes(32).toString('base64url'));
  }

  /** Throws `authentication.failed`, and `request.rate-limited` after too many failures. */
  async execute(email: string, password: string, address: string): Promise<PersonWithPassword> {
    const attempt = await this.limits.beginPassword(email, address);
    const person = await this.findByPassword(email, password).catch(async (error: unknown) => {
      await attempt.notFailed();
      throw error;
    });
    if (!person) {
      await attempt.failed();
      throw new DomainError('authentication.failed');
    }
    await attempt.notFailed();
    return person;
  }

  /** Checks the password even if no person has the email. */
  private async findByPassword(email: string, password: string): Promise<PersonWithPassword | undefined> {
    const person = await findPersonByEmail(this.dataSource.manager, email);
    const isRight = await this.passwords.matches(PEOPLE_QUEUE, password, person?.passwordHash ?? this.dummyHash);
    return isRight ? person : undefined;
  }
}
