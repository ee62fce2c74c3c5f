import { Inject, Injectable } from '@nestjs/common';
import { type PersonActor, TOTP_SETUP_MS, type TotpSetup } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import { IdentityConfig } from '../../config.js';
import { lockPerson } from '../person/person.repository.js';
import { AuthenticateActor } from '../sessions/authenticate-actor.js';
import { completeSetUp } from '../sessions/session.repository.js';
import { openSecret, sealSecret } from './sealed-secret.js';
import { findStep, newTotp } from './totp.js';
import { confirmNewTotp, findNewTotp, findTotp, updateNewTotp, useStep } from './totp.repository.js';

/** Sets up a TOTP secret, and uses codes of it. */
@Injectable()
export class SetUpTotp {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(IdentityConfig) private readonly config: IdentityConfig,
    @Inject(AuthenticateActor) private readonly actors: AuthenticateActor,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /** Creates a secret, which is used only after {@link confirm}. */
  async begin(actor: PersonActor): Promise<TotpSetup> {
    const { session } = await this.actors.authenticateForFactors(actor);
    const { personId, email } = session;
    const setup = newTotp(email);
    const sealed = await sealSecret(setup.secret, personId, this.config.SVC_SEALING_KEY);
    await updateNewTotp(this.dataSource.manager, personId, sealed, this.clock.later(TOTP_SETUP_MS));
    return setup;
  }

  /** Throws `resource.not-found` if there is no new secret, and `authentication.failed` for a wrong code. */
  async confirm(actor: PersonActor, code: string): Promise<void> {
    const { session, author } = await this.actors.authenticateForFactors(actor);
    const { personId, sessionId } = session;
    await inTransaction(this.dataSource, async (tx) => {
      await lockPerson(tx, personId);
      const now = this.clock.now();
      const sealed = await findNewTotp(tx, personId, now);
      if (sealed === undefined) throw new DomainError('resource.not-found');
      const step = findStep(await this.open(sealed, personId), code, now);
      if (step === undefined) throw new DomainError('authentication.failed');
      if (!(await confirmNewTotp(tx, personId, { secret: sealed, step, now })))
        throw new DomainError('resource.not-found');
      await completeSetUp(tx, personId, sessionId);
      const after = { personId, factor: 'totp' };
      await this.auditLog.append(tx, author, { action: 'person.second-factor-added', after });
    });
  }

  /** Uses a code of the person's secret. False for a wrong or used code, and without a secret. */
  async useCode(tx: Transaction, personId: string, code: string): Promise<boolean> {
    const totp = await findTotp(tx, personId);
    if (!totp) return false;
    const step = findStep(await this.open(totp.secret, personId), code, this.clock.now());
    return step !== undefined && useStep(tx, personId, totp.secret, step);
  }

  private open(sealed: string, personId: string): Promise<string> {
    return openSecret(sealed, personId, this.config.SVC_SEALING_KEY);
  }
}
