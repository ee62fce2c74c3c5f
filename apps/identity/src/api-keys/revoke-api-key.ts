import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import type { Change } from '../audit-log/change.js';
import { apiKeyChanged, findSuccessor, type KeyOwner, signingKeyChanged } from './api-key.js';
import { findKey, findValidKeys, lockOwner, updateKey } from './api-key.repository.js';

/** Revokes a key. If the key was primary, the newest remaining key of the same owner and mode becomes primary. */
@Injectable()
export class RevokeApiKey {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /**
   * Does nothing if the key is already revoked. Throws `resource.not-found`.
   *
   * @param mode the only mode in which the caller may revoke; any mode by default
   */
  async execute(author: ChangeAuthor, owner: KeyOwner, keyId: string, mode?: Mode): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      await lockOwner(tx, owner);
      const key = await findKey(tx, owner, keyId);
      if (!key || (mode !== undefined && key.mode !== mode)) {
        const { merchantId, siteId } = owner;
        const name = siteId === undefined ? `Merchant ${merchantId}` : `Site ${siteId} of merchant ${merchantId}`;
        throw new DomainError('resource.not-found', { message: `${name} has no key ${keyId}.` });
      }
      if (key.revokedAt) return;

      // The revoked key is updated before its successor, because the table allows only one primary key.
      const revoked = await updateKey(tx, key, { isPrimary: false, revokedAt: this.clock.now() });
      const successor = key.isPrimary ? findSuccessor(key, await findValidKeys(tx, owner)) : undefined;
      const promoted = successor ? [await updateKey(tx, successor, { isPrimary: true })] : [];
      await this.events.appendAndPublish(
        tx,
        apiKeyChanged(revoked),
        signingKeyChanged(revoked),
        ...promoted.map(signingKeyChanged),
      );
      await this.auditLog.append(
        tx,
        author,
        {
          action: 'api-key.revoked',
          ...owner,
          credentialId: keyId,
          before: { revoked: false, primary: key.isPrimary },
          after: { revoked: true, primary: false },
        },
        ...promoted.map((newPrimary): Change => ({
          action: 'api-key.made-primary',
          ...owner,
          credentialId: newPrimary.keyId,
          before: { primary: false },
          after: { primary: true },
        })),
      );
    });
  }
}
