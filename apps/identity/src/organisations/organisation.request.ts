import { IsLabel, MAX_IDENTIFIER_LENGTH } from '@svc/contracts';

/** Body of `POST /admin/v1/organisations` and `PATCH /admin/v1/organisations/{organisationId}`. */
export class OrganisationRequest {
  /** Name of the partner. Administrators see the name. 1 to 100 characters (C6). */
  @IsLabel(MAX_IDENTIFIER_LENGTH)
  name: string;
}
