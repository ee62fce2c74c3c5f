import { Inject, Injectable } from '@nestjs/common';
import { type ChangeAuthor, hashApiKey, newApiKey } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { Clock, DomainError, newUuid } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { recognisablePrefix } from '../api-keys/api-key.js';
import { AuditLog } from '../audit-log/audit-log.js';
import { lockOrganisation } from '../organisations/organisation.repository.js';
import {
  type CredentialKind,
  hashApiToken,
  newApiToken,
  type PartnerCredential,
  partnerKeyChanged,
} from './partner-credential.js';
import { countValidPartnerCredentials, insertPartnerCredential } from './partner-credential.repository.js';

/**
 * Maximum number of valid credentials of each kind and mode. Ten credentials are enough for any rotation. More would be
 * a risk, because some of them might be forgotten and never revoked.
 */
const MAX_VALID_CREDENTIALS = 10;

/**
 * Creates an API key or an API token for a partner. Older credentials stay valid until they are revoked, so that the
 * partner's servers can change to the new credential (A6).
 */
@Injectable()
export class CreatePartnerCredential {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /**
   * Only this result contains the secret, because the service stores only its hash. Throws `resource.not-found`, and
   * `resource.conflict` if ten credentials of the kind and mode are valid.
   */
  execute(
    author: ChangeAuthor,
    organisationId: string,
    kind: CredentialKind,
    mode: Mode,
  ): Promise<{ credentialId: string; secret: string }> {
    return inTransaction(this.dataSource, async (tx) => {
      await lockOrganisation(tx, organisationId);
      const validCount = await countValidPartnerCredentials(tx, organisationId, kind, mode);
      if (validCount >= MAX_VALID_CREDENTIALS) {
        throw new DomainError('resource.conflict', {
          message: `${MAX_VALID_CREDENTIALS} are valid: revoke one first.`,
        });
      }
      const secret = kind === 'api-key' ? newApiKey('partner', mode) : newApiToken(mode);
      const credential: PartnerCredential = {
        credentialId: newUuid(this.clock),
        kind,
        mode,
        organisationId,
        hash: kind === 'api-key' ? hashApiKey(secret) : hashApiToken(secret),
        prefix: recognisablePrefix(secret),
        createdAt: this.clock.now(),
        revokedAt: null,
        version: 1,
      };
      const { credentialId, prefix } = credential;
      await insertPartnerCredential(tx, credential);
      await this.events.append(tx, ...partnerKeyChanged(credential));
      await this.auditLog.append(tx, author, {
        action: kind === 'api-key' ? 'partner-key.created' : 'api-token.created',
        organisationId,
        credentialId,
        after: { mode, prefix },
      });
      return { credentialId, secret };
    });
  }
}
