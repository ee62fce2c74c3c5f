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
 * Logs a customer in (A5). The response to an unknown email, to a wrong password and to a user who is not a customer is
 * the same 401 without a body. The response also takes the same time in all three cases, because each case executes the
 * same queries and one password check.
 */
@Injectable()
export class LogInCustomer implements OnModuleInit {
  /** Hash of a random password. If the email of a login is unknown, its password is compared with this hash. */
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
    const normalisedEmail = canonicalEmail(email);
    const attempt = await this.limits.begin(owner, normalisedEmail, address);
    const found = await this.findByPassword(owner, normalisedEmail, password).catch(async (error: unknown) => {
      await attempt.notAttempted();
      throw error;
    });
    if (!found?.customerReference) {
      await attempt.failed();
      throw new DomainError('credentials.invalid');
    }
    await attempt.succeeded();
    const { customerReference, firstName, lastName } = found;
    const token = await this.signToken.execute({
      tokenType: 'customer',
      subject: customerReference,
      ...pickScope(owner),
    });
    return { ...token, customer: { id: customerReference, firstName, lastName } };
  }

  /** Returns the user with this email and password. Checks the password even if no user has the email. */
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

function pickScope({ organisationId, mode }: PartnerScope): PartnerScope {
  return { organisationId, mode };
}
