import { type OrganisationChanged, OrganisationChangedV1 } from '@svc/contracts';
import type { NewEvent } from '@svc/messaging';

/** A partner. */
export interface Organisation {
  /** UUID v7. */
  readonly organisationId: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly version: number;
}

/** An organisation as the administration API shows it. */
export interface OrganisationView {
  readonly organisationId: string;
  readonly name: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
}

export function showOrganisation({ organisationId, name, createdAt }: Organisation): OrganisationView {
  return { organisationId, name, createdUTCDate: createdAt.toISOString() };
}

export function organisationChanged({ organisationId, name, version }: Organisation): NewEvent<OrganisationChanged> {
  return {
    type: OrganisationChangedV1,
    aggregateId: organisationId,
    aggregateVersion: version,
    payload: { organisationId, name },
  };
}
