import { Inject, Injectable } from '@nestjs/common';
import { type ChangeAuthor, hashApiKey, newOperatorKey } from '@svc/auth';
import { canOperate, MAX_KEYS_PER_OPERATOR, type OperatorRole } from '@svc/contracts';
import { Clock, DomainError, newUuid } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import { readEmail } from '../person/input.js';
import { findPersonByEmail } from '../person/person.repository.js';
import { findOperator, lockOperators } from '../roles/operator.repository.js';
import { type OperatorKey, operatorKeyBeginning, operatorKeyChanged } from './operator-key.js';
import {
  countValidOperatorKeys,
  findOperatorKey,
  insertOperatorKey,
  revokeKeysOfOperator,
  revokeOperatorKey,
} from './operator-key.repository.js';

const DAY_MS = 24 * 60 * 60_000;

interface NewOperatorKey {
  readonly email: string;
  readonly role: OperatorRole;
  readonly days: number;
}

/** Creates and revokes keys of operators for the administration API. */
@Injectable()
export class ChangeOperatorKeys {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /**
   * Only this result contains the key, because the service stores only its hash. Throws `resource.not-found` if the person
   * is no operator, and `resource.conflict` if the person has a lower role, no second factor, or too many keys.
   */
  execute(
    author: ChangeAuthor,
    { email, role, days }: NewOperatorKey,
  ): Promise<{ keyId: string; key: string; expiresAt: Date }> {
    return inTransaction(this.dataSource, async (tx) => {
      await lockOperators(tx);
      const createdAt = this.clock.now();
      const personId = await this.getOwner(tx, readEmail(email), role, createdAt);
      const secret = newOperatorKey();
      const key: OperatorKey = {
        keyId: newUuid(this.clock),
        personId,
        role,
        hash: hashApiKey(secret),
        prefix: operatorKeyBeginning(secret),
        createdAt,
        expiresAt: this.clock.later(days * DAY_MS),
        revokedAt: null,
        version: 1,
      };
      const { keyId, prefix, expiresAt } = key;
      await insertOperatorKey(tx, key);
      await this.events.append(tx, operatorKeyChanged(key));
      const after = { personId, role, prefix, expiresUTCDate: expiresAt.toISOString() };
      await this.auditLog.append(tx, author, { action: 'operator-key.created', credentialId: keyId, after });
      return { keyId, key: secret, expiresAt };
    });
  }

  /** Does nothing if the key is already revoked. Throws `resource.not-found`. */
  async revoke(author: ChangeAuthor, keyId: string): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      if (!(await findOperatorKey(tx, keyId))) throw new DomainError('resource.not-found');
      const revoked = await revokeOperatorKey(tx, keyId, this.clock.now());
      if (!revoked) return;
      await this.events.appendAndPublish(tx, operatorKeyChanged(revoked));
      await this.auditLog.append(tx, author, {
        action: 'operator-key.revoked',
        credentialId: keyId,
        before: { revoked: false },
        after: { revoked: true, personId: revoked.personId },
      });
    });
  }

  /**
   * Revokes the keys that an operator may no longer have, in the transaction in which the operator is removed or gets
   * another role. Returns their ids, for the audit log.
   */
  async revokeOf(tx: Transaction, personId: string, roles: readonly OperatorRole[]): Promise<string[]> {
    const revoked = await revokeKeysOfOperator(tx, personId, roles, this.clock.now());
    for (const key of revoked) await this.events.appendAndPublish(tx, operatorKeyChanged(key));
    return revoked.map(({ keyId }) => keyId);
  }

  private async getOwner(tx: Transaction, email: string, role: OperatorRole, now: Date): Promise<string> {
    const person = await findPersonByEmail(tx, email);
    const ownRole = person && (await findOperator(tx, person.personId));
    if (ownRole === undefined) throw new DomainError('resource.not-found', { message: 'No operator has this email.' });
    if (role === 'operator' && !canOperate(ownRole, 'change'))
      throw new DomainError('resource.conflict', {
        message: 'The person is a viewer, so the key can only be of a viewer.',
      });
    const { personId, hasTotp, hasPasskey } = person!;
    if (!hasTotp && !hasPasskey)
      throw new DomainError('resource.conflict', {
        message: 'The person has no second factor yet: sign in to the console first.',
      });
    if ((await countValidOperatorKeys(tx, personId, now)) >= MAX_KEYS_PER_OPERATOR)
      throw new DomainError('resource.conflict', { message: `${MAX_KEYS_PER_OPERATOR} are valid: revoke one first.` });
    return personId;
  }
}
