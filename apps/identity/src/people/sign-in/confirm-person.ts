import { Inject, Injectable } from '@nestjs/common';
import type { ConfirmPerson } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { CheckPasskey } from '../passkeys/check-passkey.js';
import { readAddress, readPassword } from '../person/input.js';
import { AuthenticateActor } from '../sessions/authenticate-actor.js';
import type { SessionWithPerson } from '../sessions/session.js';
import { updateAuthenticated } from '../sessions/session.repository.js';
import { CheckCode } from './check-code.js';
import { CheckPassword } from './check-password.js';

/** Asks a person who is signed in for the same proof as at a sign-in, before a sensitive action. */
@Injectable()
export class ConfirmPeople {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(AuthenticateActor) private readonly actors: AuthenticateActor,
    @Inject(CheckPassword) private readonly checkPassword: CheckPassword,
    @Inject(CheckCode) private readonly checkCode: CheckCode,
    @Inject(CheckPasskey) private readonly checkPasskey: CheckPasskey,
  ) {}

  /** Returns the time of the confirmation. Throws `authentication.failed` and `authentication.required`. */
  async execute({ actor, address, password, code, passkey }: ConfirmPerson): Promise<Date> {
    const { session } = await this.actors.authenticate(actor);
    const { personId, email } = session;
    if (session.setUpRequired) throw new DomainError('credentials.forbidden');
    if (passkey) {
      const checked = await this.checkPasskey.check(passkey);
      if (checked.personId !== personId) throw new DomainError('authentication.failed');
      return inTransaction(this.dataSource, async (tx) => {
        await this.checkPasskey.use(tx, checked);
        return this.confirm(tx, session);
      });
    }
    if (password === undefined || code === undefined) throw new DomainError('authentication.failed');
    await this.checkPassword.execute(email, readPassword(password), readAddress(address));
    return this.checkCode.execute(personId, code, (tx) => this.confirm(tx, session));
  }

  private async confirm(tx: Transaction, { personId, sessionId }: SessionWithPerson): Promise<Date> {
    const now = this.clock.now();
    if (!(await updateAuthenticated(tx, personId, sessionId, now))) throw new DomainError('authentication.required');
    return now;
  }
}
