import { Inject, Injectable } from '@nestjs/common';
import type { ChangeRole } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import { lockMerchant } from '../../merchants/merchant.repository.js';
import { readRole, readScope, readUuid } from '../person/input.js';
import { AuthenticateActor } from '../sessions/authenticate-actor.js';
import { requireOwner } from './require-owner.js';
import { findRole, updateRole } from './role.repository.js';

/** Changes the role of a person at a merchant or at one of its sites. */
@Injectable()
export class ChangeRoles {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(AuthenticateActor) private readonly actors: AuthenticateActor,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /** Throws `resource.not-found` if the person has no role there, and `resource.conflict` for the last owner. */
  async execute({ actor, personId: id, role: name, ...requested }: ChangeRole): Promise<void> {
    const [scope, personId, role] = [readScope(requested), readUuid(id), readRole(name)];
    const { author } = await this.actors.authorise(actor, 'people.manage', scope, { isConfirmed: true });
    await inTransaction(this.dataSource, async (tx) => {
      await lockMerchant(tx, scope.merchantId);
      const before = await findRole(tx, scope, personId);
      if (before === undefined) throw new DomainError('resource.not-found');
      if (before === role) return;
      await updateRole(tx, scope, personId, role);
      if (before === 'owner' && scope.siteId === undefined) await requireOwner(tx, scope.merchantId);
      await this.auditLog.append(tx, author, {
        action: 'person.role-changed',
        ...scope,
        before: { personId, role: before },
        after: { personId, role },
      });
    });
  }
}
