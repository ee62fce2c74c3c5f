import { Inject, Injectable } from '@nestjs/common';
import type { FinishPasskeySignIn, FinishSignIn, StartedPersonSession } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { CheckPasskey } from '../passkeys/check-passkey.js';
import { readBrowser, readToken } from '../person/input.js';
import { lockPerson } from '../person/person.repository.js';
import { StartSession } from '../sessions/start-session.js';
import { CheckCode } from './check-code.js';
import { consumeSignInToken, countCode } from './sign-in-token.repository.js';

/** Begins a session after the last proof of a sign-in. */
@Injectable()
export class FinishPersonSignIn {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(CheckCode) private readonly checkCode: CheckCode,
    @Inject(CheckPasskey) private readonly checkPasskey: CheckPasskey,
    @Inject(StartSession) private readonly startSession: StartSession,
  ) {}

  /** After the password: with a TOTP code, or without a code if the person has no second factor yet. */
  async afterPassword(request: FinishSignIn): Promise<StartedPersonSession> {
    const tokenHash = readToken(request.signInToken);
    const browser = readBrowser(request.browser);
    const { code, device } = request;
    const personId = await countCode(this.dataSource.manager, tokenHash, this.clock.now());
    if (personId === undefined) throw new DomainError('resource.not-found');
    const start = async (tx: Transaction, setUpRequired: boolean): Promise<StartedPersonSession> => {
      // Of two requests with one token only one begins a session. The other one is rolled back.
      const consumed = await consumeSignInToken(tx, 'password', tokenHash, this.clock.now());
      if (consumed === undefined) throw new DomainError('resource.not-found');
      return this.startSession.execute(tx, { personId, browser, device, method: 'password', setUpRequired });
    };
    if (code !== undefined) return this.checkCode.execute(personId, code, (tx) => start(tx, false));
    return inTransaction(this.dataSource, async (tx) => {
      const person = await lockPerson(tx, personId);
      if (!person || person.hasTotp || person.hasPasskey) throw new DomainError('authentication.failed');
      return start(tx, true);
    });
  }

  /** A passkey that verifies its user is two factors: the device, and the user's PIN, finger or face. */
  async withPasskey({ browser: hash, device, ...proof }: FinishPasskeySignIn): Promise<StartedPersonSession> {
    const browser = readBrowser(hash);
    const passkey = await this.checkPasskey.check(proof);
    const { personId } = passkey;
    return inTransaction(this.dataSource, async (tx) => {
      if (!(await lockPerson(tx, personId))) throw new DomainError('authentication.failed');
      await this.checkPasskey.use(tx, passkey);
      return this.startSession.execute(tx, { personId, browser, device, method: 'passkey', setUpRequired: false });
    });
  }
}
