import { randomBytes } from 'node:crypto';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { CustomerLoginAnswer } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { SignToken } from '../token-keys/sign-token.js';
import { hashPassword } from '../users/password.js';
import { PasswordQueue } from '../users/password-queue.js';
import { canonicalEmail, type PartnerScope } from '../users/user.js';
import { type CustomerLogin, findLogin } from './find-login.query.js';
import { LoginLimits } from './login-limits.js';

/**
 * Logs a customer in (A5). An unknown email, a wrong password and a user who is not a customer take the same time and get the
 * same response: the same queries, one password check, and a 401 without a body.
 */
@Injectable()
export class LogInCustomer implements OnModuleInit {
  /** Hash of a random password, for the check of logins with an unknown email. */
  private dummyHash = '';

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LoginLimits) private readonly limits: LoginLimits,
    @Inject(PasswordQueue) private readonly passwords: PasswordQueue,
    @Inject(SignToken) private readonly signToken: SignToken,
  ) {}

  async onModuleInit(): Promise<void> {
    this.dummyHash = await hashPassword(randomBytes(32).toString('base64url'));
  }

  /** Throws `credentials.invalid`, and `request.rate-limited` after too many failures. */
  async execute(
    owner: PartnerScope,
    { email, password, address }: { email: string; password: string; address: string },
  ): Promise<CustomerLoginAnswer> {
    const canonical = canonicalEmail(email);
    const login = await this.limits.begin(owner, canonical, address);
    const found = await this.findByPassword(owner, canonical, password).catch(async (error: unknown) => {
      await login.notAttempted();
      throw error;
    });
    if (!found?.customerReference) {
      await login.failed();
      throw new DomainError('credentials.invalid');
    }
    await login.succeeded();
    const { customerReference, firstName, lastName } = found;
    const token = await this.signToken.execute({
      tokenType: 'customer',
      subject: customerReference,
      ...scopeOf(owner),
    });
    return { ...token, customer: { id: customerReference, firstName, lastName } };
  }

  /** The user with this email and password. It checks a password also when no user exists. */
  private async findByPassword(
    owner: PartnerScope,
    email: string,
    password: string,
  ): Promise<CustomerLogin | undefined> {
    const row = await findLogin(this.dataSource, owner, email);
    return (await this.passwords.matches(owner.organisationId, password, row?.passwordHash ?? this.dummyHash))
      ? row
      : undefined;
  }
}

function scopeOf({ organisationId, mode }: PartnerScope): PartnerScope {
  return { organisationId, mode };
}
