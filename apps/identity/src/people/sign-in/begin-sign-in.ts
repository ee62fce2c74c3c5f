import { Inject, Injectable } from '@nestjs/common';
import { type BeginSignIn, type BegunSignIn, SIGN_IN_MS } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { readAddress, readEmail, readPassword } from '../person/input.js';
import { toSecondFactors } from '../person/person.js';
import { lockPerson } from '../person/person.repository.js';
import { newToken } from '../person/token.js';
import { CheckPassword } from './check-password.js';
import { insertSignInToken } from './sign-in-token.repository.js';

/** Checks the password of a person. The second factor follows with the returned token. */
@Injectable()
export class BeginPersonSignIn {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(CheckPassword) private readonly checkPassword: CheckPassword,
  ) {}

  async execute({ email, password, address }: BeginSignIn): Promise<BegunSignIn> {
    const { personId } = await this.checkPassword.execute(
      readEmail(email),
      readPassword(password),
      readAddress(address),
    );
    const { token, tokenHash } = newToken();
    return inTransaction(this.dataSource, async (tx) => {
      const person = await lockPerson(tx, personId);
      // The person was removed meanwhile.
      if (!person) throw new DomainError('authentication.failed');
      await insertSignInToken(tx, { tokenHash, kind: 'password', personId, expiresAt: this.clock.later(SIGN_IN_MS) });
      return { signInToken: token, secondFactors: toSecondFactors(person) };
    });
  }
}
