/** A partner. Partners are not published as events, because other services need only their keys, not their names. */
export interface Organisation {
  /** UUID v7. */
  readonly organisationId: string;
  readonly name: string;
  readonly createdAt: Date;
}

/** An organisation in the administration API. */
export interface OrganisationView {
  readonly organisationId: string;
  readonly name: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly createdUTCDate: string;
}

export function toOrganisationView({ organisationId, name, createdAt }: Organisation): OrganisationView {
  return { organisationId, name, createdUTCDate: createdAt.toISOString() };
}
