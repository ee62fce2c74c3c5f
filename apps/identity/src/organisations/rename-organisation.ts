import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import { type OrganisationView, toOrganisationView } from './organisation.js';
import { lockOrganisation, renameOrganisation } from './organisation.repository.js';

/** Renames a partner. Does nothing if the partner already has this name. */
@Injectable()
export class RenameOrganisation {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /** Throws `resource.not-found`. */
  execute(author: ChangeAuthor, organisationId: string, name: string): Promise<OrganisationView> {
    return inTransaction(this.dataSource, async (tx) => {
      const before = await lockOrganisation(tx, organisationId);
      if (before.name === name) return toOrganisationView(before);
      const organisation = { ...before, name };
      await renameOrganisation(tx, organisation);
      await this.auditLog.append(tx, author, {
        action: 'organisation.renamed',
        organisationId,
        before: { name: before.name },
        after: { name },
      });
      return toOrganisationView(organisation);
    });
  }
}
