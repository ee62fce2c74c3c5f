import { Inject, Injectable } from '@nestjs/common';
import type { PersonActor, SecondFactorList } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import { deletePasskey, listPasskeys } from '../passkeys/passkey.repository.js';
import { readUuid } from '../person/input.js';
import { lockPerson } from '../person/person.repository.js';
import { AuthenticateActor } from '../sessions/authenticate-actor.js';
import { deleteTotp, findTotp } from '../totp/totp.repository.js';

/** Lists and removes the second factors of the person who acts. */
@Injectable()
export class RemoveSecondFactor {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(AuthenticateActor) private readonly actors: AuthenticateActor,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  async list(actor: PersonActor): Promise<SecondFactorList> {
    const { session } = await this.actors.authenticate(actor);
    const totp = await findTotp(this.dataSource.manager, session.personId);
    const passkeys = await listPasskeys(this.dataSource.manager, session.personId);
    return {
      ...(totp ? { totp: { createdUTCDate: totp.createdAt.toISOString() } } : {}),
      passkeys: passkeys.map(({ passkeyId, name, createdAt, lastUsedAt }) => ({
        passkeyId,
        name,
        createdUTCDate: createdAt.toISOString(),
        ...(lastUsedAt ? { lastUsedUTCDate: lastUsedAt.toISOString() } : {}),
      })),
    };
  }

  /**
   * Removes `totp` or the passkey with this id. Throws `resource.not-found`, and `resource.conflict` for the last second
   * factor: without one, the password alone would be enough to set up another.
   */
  async execute(actor: PersonActor, factor: string): Promise<void> {
    const { session, author } = await this.actors.authenticateForFactors(actor);
    const { personId } = session;
    const passkeyId = factor === 'totp' ? undefined : readUuid(factor);
    await inTransaction(this.dataSource, async (tx) => {
      await lockPerson(tx, personId);
      const isRemoved = await (passkeyId === undefined
        ? deleteTotp(tx, personId)
        : deletePasskey(tx, personId, passkeyId));
      if (!isRemoved) throw new DomainError('resource.not-found');
      const remaining = await lockPerson(tx, personId);
      if (!remaining?.hasTotp && !remaining?.hasPasskey)
        throw new DomainError('resource.conflict', { message: 'Set up another second factor first.' });
      await this.auditLog.append(tx, author, {
        action: 'person.second-factor-removed',
        ...(passkeyId === undefined ? {} : { credentialId: passkeyId }),
        before: { personId, factor: passkeyId === undefined ? 'totp' : 'passkey' },
      });
    });
  }
}
