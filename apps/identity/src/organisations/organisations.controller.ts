import { Body, Controller, Get, Inject, Param, Patch, Post, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import { invalidField, isUuid } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { uuidId } from '../path-ids.js';
import { CreateOrganisation } from './create-organisation.js';
import { type OrganisationView, toOrganisationView } from './organisation.js';
import { getOrganisation, listOrganisations, ORGANISATION_PAGE_SIZE } from './organisation.repository.js';
import { OrganisationRequest } from './organisation.request.js';
import { RenameOrganisation } from './rename-organisation.js';

const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

/** On-boarding of partners (A10). Requires `x-admin-key`. Errors are RFC 9457 (C5). */
@Controller('admin/v1/organisations')
@UseGuards(AdminKeyGuard)
export class OrganisationsController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(CreateOrganisation) private readonly createOrganisation: CreateOrganisation,
    @Inject(RenameOrganisation) private readonly renameOrganisation: RenameOrganisation,
  ) {}

  /** Creates an organisation, which is a partner. */
  @Post()
  create(@Author() author: ChangeAuthor, @Body() { name }: OrganisationRequest): Promise<OrganisationView> {
    return this.createOrganisation.execute(author, name);
  }

  /**
   * Renames an organisation.
   *
   * @returns 200 The organisation, even if its name has not changed.
   * @throws resource.not-found
   */
  @Patch(':organisationId')
  rename(
    @Author() author: ChangeAuthor,
    @Param('organisationId', uuidId) organisationId: string,
    @Body() { name }: OrganisationRequest,
  ): Promise<OrganisationView> {
    return this.renameOrganisation.execute(author, organisationId, name);
  }

  /**
   * Lists organisations in pages of 50, the oldest first. If `nextAfter` is present, send it as `after` to get the next
   * page.
   *
   * @throws request.invalid
   */
  @Get()
  async list(
    @Query('after') after: unknown = LOWEST_ID,
  ): Promise<{ organisations: OrganisationView[]; nextAfter?: string }> {
    if (!isUuid(after)) throw invalidField('after', 'after must be an organisationId');
    const organisations = (await listOrganisations(this.dataSource.manager, after)).map(toOrganisationView);
    const last = organisations.at(-1);
    const mayHaveMore = last && organisations.length === ORGANISATION_PAGE_SIZE;
    return { organisations, ...(mayHaveMore ? { nextAfter: last.organisationId } : {}) };
  }

  /**
   * Returns an organisation.
   *
   * @throws resource.not-found
   */
  @Get(':organisationId')
  async get(@Param('organisationId', uuidId) organisationId: string): Promise<OrganisationView> {
    return toOrganisationView(await getOrganisation(this.dataSource.manager, organisationId));
  }
}
