import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { getOrganisation } from '../organisations/organisation.repository.js';
import { type CredentialKind, type PartnerCredentialView, showCredential } from './partner-credential.js';
import { PartnerCredentialRow } from './partner-credential.row.js';

/** Over it the oldest are left out. */
const LISTED_MAX = 100;

@Injectable()
export class ListPartnerCredentials {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Newest first, revoked ones included, at most 100. Throws `resource.not-found`. */
  async execute(organisationId: string, kind: CredentialKind): Promise<PartnerCredentialView[]> {
    const { manager } = this.dataSource;
    await getOrganisation(manager, organisationId);
    const rows = await manager.find(PartnerCredentialRow, {
      where: { organisationId, kind },
      order: { ordinal: 'DESC' },
      take: LISTED_MAX,
    });
    return rows.map(showCredential);
  }
}
