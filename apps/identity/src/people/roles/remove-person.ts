import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import type { PeopleScope, PersonActor } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import { lockMerchant } from '../../merchants/merchant.repository.js';
import { readScope, readUuid } from '../person/input.js';
import { toRoleGrant } from '../person/person.js';
import { deletePersonWithoutRoles, lockPerson } from '../person/person.repository.js';
import { AuthenticateActor } from '../sessions/authenticate-actor.js';
import { requireOwner } from './require-owner.js';
import { deleteRoles } from './role.repository.js';

/**
 * Removes people from a merchant. A person without any role is deleted with the sessions and second factors, so that no
 * personal data remain, and so that a person who has lost all second factors can be invited again as a new person.
 */
@Injectable()
export class RemovePeople {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(AuthenticateActor) private readonly actors: AuthenticateActor,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /** Throws `resource.not-found` if the person has no role there, and `resource.conflict` for the last owner. */
  async execute(actor: PersonActor, requested: PeopleScope, personId: string): Promise<void> {
    const scope = readScope(requested);
    const { author } = await this.actors.authorise(actor, 'people.manage', scope, { isConfirmed: true });
    await this.remove(author, scope, readUuid(personId), (tx) => requireOwner(tx, scope.merchantId));
  }

  /** An administrator may also remove the last owner, to invite another one after all second factors were lost. */
  async executeByAdministrator(author: ChangeAuthor, merchantId: number, personId: string): Promise<void> {
    await this.remove(author, { merchantId }, personId, () => Promise.resolve());
  }

  private async remove(
    author: ChangeAuthor,
    scope: PeopleScope,
    personId: string,
    checkOwners: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      await lockMerchant(tx, scope.merchantId);
      await lockPerson(tx, personId);
      const deleted = await deleteRoles(tx, scope, personId);
      if (deleted.length === 0) throw new DomainError('resource.not-found');
      if (deleted.some(({ role, siteId }) => role === 'owner' && siteId === null)) await checkOwners(tx);
      await deletePersonWithoutRoles(tx, personId);
      await this.auditLog.append(tx, author, {
        action: 'person.removed',
        ...scope,
        before: { personId, roles: deleted.map(toRoleGrant) },
      });
    });
  }
}
