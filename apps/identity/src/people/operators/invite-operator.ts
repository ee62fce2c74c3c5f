import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import { INVITATION_MS, MAX_OPERATOR_INVITATIONS, type OperatorRole } from '@svc/contracts';
import { Clock, DomainError, newUuidAt } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import { readEmail } from '../person/input.js';
import { newToken } from '../person/token.js';
import { isOperatorByEmail, lockOperators } from '../roles/operator.repository.js';
import {
  countOtherOperatorInvitations,
  deleteOperatorInvitation,
  upsertOperatorInvitation,
} from './operator-invitation.repository.js';

interface CreatedOperatorInvitation {
  readonly invitationId: string;
  readonly invitationToken: string;
  readonly expiresAt: Date;
}

/**
 * Invites operators of the platform, and withdraws invitations. The caller has checked that the author may change
 * operators, and passes the link on.
 */
@Injectable()
export class InviteOperators {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /** Throws `resource.conflict` if the person is an operator already, or if there are too many invitations. */
  async execute(
    author: ChangeAuthor,
    invitee: { readonly email: string; readonly role: OperatorRole },
  ): Promise<CreatedOperatorInvitation> {
    const email = readEmail(invitee.email);
    const { token, tokenHash } = newToken();
    const createdAt = this.clock.now();
    const expiresAt = this.clock.later(INVITATION_MS);
    const invitationId = newUuidAt(createdAt);
    return inTransaction(this.dataSource, async (tx) => {
      await lockOperators(tx);
      if (await isOperatorByEmail(tx, email))
        throw new DomainError('resource.conflict', { message: 'The person is an operator already.' });
      if ((await countOtherOperatorInvitations(tx, email, createdAt)) >= MAX_OPERATOR_INVITATIONS) {
        const message = `There are ${MAX_OPERATOR_INVITATIONS} open invitations of operators.`;
        throw new DomainError('resource.conflict', { message });
      }
      const operatorRole = invitee.role;
      await upsertOperatorInvitation(tx, { invitationId, operatorRole, email, createdAt, expiresAt }, tokenHash);
      const after = { invitationId, email, role: operatorRole };
      await this.auditLog.append(tx, author, { action: 'operator-invitation.created', after });
      return { invitationId, invitationToken: token, expiresAt };
    });
  }

  /** Returns whether there was a valid invitation with this id. */
  withdraw(author: ChangeAuthor, invitationId: string): Promise<boolean> {
    return inTransaction(this.dataSource, async (tx) => {
      const deleted = await deleteOperatorInvitation(tx, invitationId, this.clock.now());
      if (!deleted) return false;
      const before = { invitationId, email: deleted.email, role: deleted.operatorRole };
      await this.auditLog.append(tx, author, { action: 'operator-invitation.withdrawn', before });
      return true;
    });
  }
}
