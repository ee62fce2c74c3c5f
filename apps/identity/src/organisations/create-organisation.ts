import { Inject, Injectable } from '@nestjs/common';
import { Clock, newUuid } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import type { ChangeAuthor } from '../audit-log/change-author.js';
import { type Organisation, organisationChanged, type OrganisationView, showOrganisation } from './organisation.js';
import { insertOrganisation } from './organisation.repository.js';

/** On-boards a partner and tells every service of it. */
@Injectable()
export class CreateOrganisation {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  execute(author: ChangeAuthor, name: string): Promise<OrganisationView> {
    return inTransaction(this.dataSource, async (tx) => {
      const organisation: Organisation = {
        organisationId: newUuid(this.clock),
        name,
        createdAt: this.clock.now(),
        version: 1,
      };
      const { organisationId } = organisation;
      await insertOrganisation(tx, organisation);
      await this.events.append(tx, organisationChanged(organisation));
      await this.auditLog.append(tx, author, { action: 'organisation.created', organisationId, after: { name } });
      return showOrganisation(organisation);
    });
  }
}
