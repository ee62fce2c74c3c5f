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
 * Logs a customer in (A5). An email that nobody has, a wrong password and a user who is not registered cost the same and
 * look the same: the same queries, one comparison of a password, one 401 without a body.
 */
@Injectable()
export class LogInCustomer implements OnModuleInit {
  /** Of a password that nobody knows: what the guesses at unknown emails are compared with. */
  private nobodysHash = '';

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(LoginLimits) private readonly limits: LoginLimits,
    @Inject(PasswordQueue) private readonly passwords: PasswordQueue,
    @Inject(SignToken) private readonly signToken: SignToken,
  ) {}

  async onModuleInit(): Promise<void> {
    this.nobodysHash = await hashPassword(randomBytes(32).toString('base64url'));
  }

  /** Throws `credentials.invalid`, and `request.rate-limited` after too many failures. */
  async execute(
    owner: PartnerScope,
    { email, password, address }: { email: string; password: string; address: string },
  ): Promise<CustomerLoginAnswer> {
    const known = canonicalEmail(email);
    const login = await this.limits.begin(owner, known, address);
    const found = await this.findWhoHas(owner, known, password).catch(async (error: unknown) => {
      await login.notTried();
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

  /** The user with this email and password; a password is compared also where there is no user. */
  private async findWhoHas(owner: PartnerScope, email: string, password: string): Promise<CustomerLogin | undefined> {
    const row = await findLogin(this.dataSource, owner, email);
    return (await this.passwords.matches(owner.organisationId, password, row?.passwordHash ?? this.nobodysHash))
      ? row
      : undefined;
  }
}

function scopeOf({ organisationId, mode }: PartnerScope): PartnerScope {
  return { organisationId, mode };
}
