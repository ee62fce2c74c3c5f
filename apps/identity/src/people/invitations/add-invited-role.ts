import type { Transaction } from '@svc/persistence';
import type { Change } from '../../audit-log/change.js';
import { cancelMail } from '../mails/mail.repository.js';
import type { OperatorInvitation } from '../roles/operator.js';
import { insertOperator } from '../roles/operator.repository.js';
import { insertRole } from '../roles/role.repository.js';
import type { Invitation } from './invitation.repository.js';

interface Invitee {
  readonly personId: string;
  readonly createdAt: Date;
}

/**
 * Adds the role of an invitation that was used in this transaction, and returns the entry for the audit log. Throws
 * `resource.conflict`. The caller has locked the person, and the merchant or the operators.
 */
export async function addInvitedRole(
  tx: Transaction,
  invitation: Invitation | OperatorInvitation,
  { personId, createdAt }: Invitee,
): Promise<Change> {
  const { invitationId, email } = invitation;
  if ('operatorRole' in invitation) {
    const role = invitation.operatorRole;
    await insertOperator(tx, { personId, role, createdAt });
    return { action: 'operator-invitation.accepted', after: { invitationId, personId, email, role } };
  }
  const { merchantId, siteId, role } = invitation;
  const scope = { merchantId, ...(siteId === null ? {} : { siteId }) };
  await cancelMail(tx, merchantId, invitationId);
  await insertRole(tx, scope, { personId, role, createdAt });
  return { action: 'invitation.accepted', ...scope, after: { invitationId, personId, email, role } };
}
