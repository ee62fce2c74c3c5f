import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import { OPERATOR_ROLES, type OperatorRole } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import { ChangeOperatorKeys } from '../operator-keys/change-operator-keys.js';
import { deletePersonWithoutRoles, lockPerson } from '../person/person.repository.js';
import {
  countOperatorsWhoChange,
  deleteOperator,
  findOperator,
  lockOperators,
  updateOperator,
} from '../roles/operator.repository.js';

/**
 * Changes the role of operators, and removes operators, with the keys that they may no longer have. The caller has checked that the author may change operators. A
 * removed operator without a role at a merchant is deleted with the sessions and second factors.
 */
@Injectable()
export class ChangeOperators {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(ChangeOperatorKeys) private readonly keys: ChangeOperatorKeys,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /** Throws `resource.not-found`, and `resource.conflict` for the last operator who may change something. */
  async changeRole(author: ChangeAuthor, personId: string, role: OperatorRole): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      await lockOperators(tx);
      const before = await getOperator(tx, personId);
      if (before === role) return;
      await updateOperator(tx, { personId, role });
      if (before === 'operator') await requireOperator(tx);
      const revokedKeys = role === 'viewer' ? await this.keys.revokeOf(tx, personId, ['operator']) : [];
      await this.auditLog.append(tx, author, {
        action: 'operator.role-changed',
        before: { personId, role: before },
        after: { personId, role, revokedKeys },
      });
    });
  }

  /** Throws as {@link changeRole}. */
  async remove(author: ChangeAuthor, personId: string): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      await lockOperators(tx);
      await lockPerson(tx, personId);
      const role = await getOperator(tx, personId);
      await deleteOperator(tx, personId);
      if (role === 'operator') await requireOperator(tx);
      await deletePersonWithoutRoles(tx, personId);
      const revokedKeys = await this.keys.revokeOf(tx, personId, OPERATOR_ROLES);
      await this.auditLog.append(tx, author, {
        action: 'operator.removed',
        before: { personId, role },
        after: { revokedKeys },
      });
    });
  }
}

async function getOperator(tx: Transaction, personId: string): Promise<OperatorRole> {
  const role = await findOperator(tx, personId);
  if (role === undefined) throw new DomainError('resource.not-found');
  return role;
}

/** Otherwise no person could invite operators any more. */
async function requireOperator(tx: Transaction): Promise<void> {
  if ((await countOperatorsWhoChange(tx)) > 0) return;
  const message = 'This is the last operator with the role operator. Invite another one first.';
  throw new DomainError('resource.conflict', { message });
}
