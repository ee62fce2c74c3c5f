import { Inject, Injectable } from '@nestjs/common';
import { hashApiKey, newApiKey } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { Clock, DomainError, newUuid } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import type { Change } from '../audit-log/change.js';
import type { ChangeAuthor } from '../audit-log/change-author.js';
import { seal } from '../sealing/seal.js';
import { getSealingKey } from '../sealing/sealing-key.repository.js';
import { type ApiKey, apiKeyChanged, type KeyOwner, recognisablePrefix, signingKeyChanged } from './api-key.js';
import { findValidKeys, insertKey, lockOwner, updateKey } from './api-key.repository.js';

/** Enough for any rotation; each forgotten key is a risk. */
const MAX_VALID_KEYS = 10;

/** A new key, with its secret. */
export interface CreatedApiKey {
  readonly keyId: string;
  /** Shown only once: the service stores its hash (A6). */
  readonly apiKey: string;
  readonly kind: 'merchant' | 'site';
  readonly mode: Mode;
  readonly primary: boolean;
}

/**
 * Creates a key for a merchant or a site. It becomes the primary key, which signs webhooks (E3); older keys stay valid until
 * they are revoked, so that their users can change to the new one (A6).
 */
@Injectable()
export class CreateApiKey {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  execute(author: ChangeAuthor, owner: KeyOwner, mode: Mode): Promise<CreatedApiKey> {
    return inTransaction(this.dataSource, async (tx) => {
      await lockOwner(tx, owner);
      const valid = (await findValidKeys(tx, owner)).filter((key) => key.mode === mode);
      if (valid.length >= MAX_VALID_KEYS) {
        throw new DomainError('resource.conflict', { message: `${MAX_VALID_KEYS} keys are valid: revoke one first.` });
      }
      const kind = owner.siteId === undefined ? 'merchant' : 'site';
      const apiKey = newApiKey(kind, mode);
      const sealed = await seal(apiKey, await getSealingKey(tx));

      // The old key first: the table allows only one primary key.
      const primary = valid.find(({ isPrimary }) => isPrimary);
      const demoted = primary ? [await updateKey(tx, primary, { isPrimary: false })] : [];
      const key: ApiKey = {
        keyId: newUuid(this.clock),
        kind,
        mode,
        merchantId: owner.merchantId,
        siteId: owner.siteId ?? null,
        hash: hashApiKey(apiKey),
        prefix: recognisablePrefix(apiKey),
        sealed,
        isPrimary: true,
        createdAt: this.clock.now(),
        revokedAt: null,
        version: 1,
      };
      await insertKey(tx, key);
      await this.events.append(tx, ...demoted.map(signingKeyChanged), apiKeyChanged(key), signingKeyChanged(key));
      await this.auditLog.append(
        tx,
        author,
        ...demoted.map((old): Change => ({
          action: 'api-key.no-longer-primary',
          ...owner,
          credentialId: old.keyId,
          before: { primary: true },
          after: { primary: false },
        })),
        {
          action: 'api-key.created',
          ...owner,
          credentialId: key.keyId,
          after: { kind, mode, prefix: key.prefix, primary: true },
        },
      );
      return { keyId: key.keyId, apiKey, kind, mode, primary: true };
    });
  }
}
