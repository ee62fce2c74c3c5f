import { Inject, Injectable } from '@nestjs/common';
import { type ChangeAuthor, hashApiKey, newApiKey } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { Clock, DomainError, newUuid } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import type { Change } from '../audit-log/change.js';
import { endScheduled, type NewCredential } from '../new-credential.js';
import { seal } from '../sealing/seal.js';
import { getSealingKey } from '../sealing/sealing-key.repository.js';
import { type ApiKey, apiKeyChanged, type KeyOwner, recognisablePrefix, signingKeyChanged } from './api-key.js';
import { findValidKeys, insertKey, lockOwner, scheduleKeyEnd, updateKey } from './api-key.repository.js';

/**
 * Maximum number of valid keys of an owner in a mode. Ten keys are enough for any rotation. More keys would be a risk,
 * because some of them might be forgotten and never revoked.
 */
const MAX_VALID_KEYS = 10;

/** A new key, including the secret. */
export interface CreatedApiKey {
  readonly keyId: string;
  /**
   * The secret key. It is shown only in this response (A6): the service stores its hash, and the key itself encrypted so
   * that only the webhook dispatcher can decrypt it, which signs webhooks with it (E3).
   */
  readonly apiKey: string;
  readonly kind: 'merchant' | 'site';
  readonly mode: Mode;
  readonly primary: boolean;
}

/**
 * Creates a key for a merchant or a site. The new key becomes the primary key, which signs webhooks (E3). Older keys
 * stay valid until they are revoked, so that the merchant's servers can change to the new key (A6).
 */
@Injectable()
export class CreateApiKey {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /** Throws `resource.conflict` if too many keys are valid, or the key exists, and `resource.not-found`. */
  execute(
    author: ChangeAuthor,
    owner: KeyOwner,
    mode: Mode,
    { credentialId, replaced }: NewCredential = {},
  ): Promise<CreatedApiKey> {
    return inTransaction(this.dataSource, async (tx) => {
      await lockOwner(tx, owner);
      const endsAt =
        replaced && (await scheduleKeyEnd(tx, owner, { keyId: replaced.credentialId, mode, endsAt: replaced.endsAt }));
      if (replaced && !endsAt) throw new DomainError('resource.not-found');
      const validKeys = (await findValidKeys(tx, owner)).filter((key) => key.mode === mode);
      if (validKeys.length >= MAX_VALID_KEYS) {
        throw new DomainError('resource.conflict', { message: `${MAX_VALID_KEYS} keys are valid: revoke one first.` });
      }
      const kind = owner.siteId === undefined ? 'merchant' : 'site';
      const apiKey = newApiKey(kind, mode);
      const sealed = await seal(apiKey, await getSealingKey(tx));

      // The old primary key is updated before the new key is inserted, because the table allows only one primary key.
      const oldPrimary = validKeys.find(({ isPrimary }) => isPrimary);
      const demoted = oldPrimary ? [await updateKey(tx, oldPrimary, { isPrimary: false })] : [];
      const key: ApiKey = {
        keyId: credentialId ?? newUuid(this.clock),
        kind,
        mode,
        merchantId: owner.merchantId,
        siteId: owner.siteId ?? null,
        hash: hashApiKey(apiKey),
        prefix: recognisablePrefix(apiKey),
        sealed,
        isPrimary: true,
        createdAt: this.clock.now(),
        endsAt: null,
        revokedAt: null,
        version: 1,
      };
      await insertKey(tx, key);
      await this.events.append(tx, ...demoted.map(signingKeyChanged), apiKeyChanged(key), signingKeyChanged(key));
      await this.auditLog.append(
        tx,
        author,
        ...demoted.map((oldKey): Change => ({
          action: 'api-key.no-longer-primary',
          ...owner,
          credentialId: oldKey.keyId,
          before: { primary: true },
          after: { primary: false },
        })),
        ...(replaced && endsAt ? [endScheduled('api-key.end-scheduled', owner, replaced.credentialId, endsAt)] : []),
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
