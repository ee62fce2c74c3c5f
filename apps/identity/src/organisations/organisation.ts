/** A partner. Other services know it by its keys: there is no event, for nobody else needs its name. */
export interface Organisation {
  /** UUID v7. */
  readonly organisationId: string;
  readonly name: string;
  readonly createdAt: Date;
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
