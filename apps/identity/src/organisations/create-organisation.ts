import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import { Clock, newUuid } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import { type Organisation, type OrganisationView, toOrganisationView } from './organisation.js';
import { insertOrganisation } from './organisation.repository.js';

/** Creates an organisation, which is a partner. */
@Injectable()
export class CreateOrganisation {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  execute(author: ChangeAuthor, name: string): Promise<OrganisationView> {
    return inTransaction(this.dataSource, async (tx) => {
      const organisation: Organisation = {
        organisationId: newUuid(this.clock),
        name,
        createdAt: this.clock.now(),
      };
      const { organisationId } = organisation;
      await insertOrganisation(tx, organisation);
      await this.auditLog.append(tx, author, { action: 'organisation.created', organisationId, after: { name } });
      return toOrganisationView(organisation);
    });
  }
}
