import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { getOrganisation } from '../organisations/organisation.repository.js';
import { type CredentialKind, type PartnerCredentialView, toPartnerCredentialView } from './partner-credential.js';
import { listPartnerCredentials } from './partner-credential.repository.js';

@Injectable()
export class ListPartnerCredentials {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Returns at most 100 credentials, the newest first, including revoked credentials. Throws `resource.not-found`. */
  async execute(organisationId: string, kind: CredentialKind): Promise<PartnerCredentialView[]> {
    const { manager } = this.dataSource;
    await getOrganisation(manager, organisationId);
    const credentials = await listPartnerCredentials(manager, organisationId, kind);
    return credentials.map(toPartnerCredentialView);
  }
}
