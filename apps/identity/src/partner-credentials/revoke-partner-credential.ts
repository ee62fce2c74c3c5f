import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import { Clock } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import { lockOrganisation } from '../organisations/organisation.repository.js';
import { type CredentialKind, partnerKeyChanged } from './partner-credential.js';
import { getPartnerCredential, revokePartnerCredential } from './partner-credential.repository.js';

/** Revokes an API key or an API token. Identity tokens of earlier logins stay valid until they expire (A2). */
@Injectable()
export class RevokePartnerCredential {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /** Does nothing if the credential is already revoked. Throws `resource.not-found`. */
  async execute(
    author: ChangeAuthor,
    organisationId: string,
    kind: CredentialKind,
    credentialId: string,
  ): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      await lockOrganisation(tx, organisationId);
      const credential = await getPartnerCredential(tx, organisationId, kind, credentialId);
      if (credential.revokedAt) return;
      const revoked = await revokePartnerCredential(tx, credential, this.clock.now());
      await this.events.appendAndPublish(tx, ...partnerKeyChanged(revoked));
      await this.auditLog.append(tx, author, {
        action: kind === 'api-key' ? 'partner-key.revoked' : 'api-token.revoked',
        organisationId,
        credentialId,
        before: { revoked: false },
        after: { revoked: true },
      });
    });
  }
}
