import { Body, Controller, Header, Inject, Param, Patch, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import { numericId } from '../path-ids.js';
import { ChangeSite } from './change-site.js';
import { type CreatedSite, CreateSite } from './create-site.js';
import type { SiteView } from './site.js';
import { ChangeSiteRequest, CreateSiteRequest } from './site.requests.js';

/**
 * Creates and changes the sites of a merchant (A8, A10). `GET /admin/v1/merchants/{merchantId}` returns them. Requires
 * `x-admin-key`. Errors are RFC 9457 (C5).
 */
@Controller('admin/v1/merchants/:merchantId/sites')
@UseGuards(AdminKeyGuard)
export class SitesController {
  constructor(
    @Inject(CreateSite) private readonly createSite: CreateSite,
    @Inject(ChangeSite) private readonly changeSite: ChangeSite,
  ) {}

  /**
   * Creates a site of a merchant.
   *
   * @returns 201 The site, with a webhook secret for each mode. The secrets are shown only once.
   * @throws resource.not-found
   * @throws resource.conflict Another site of the merchant has this `siteReference`, or the merchant has 1000 sites.
   * @throws service.not-ready webhook-dispatcher has not yet published its encryption key.
   */
  @Post()
  @Header('cache-control', 'no-store')
  create(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Body() request: CreateSiteRequest,
  ): Promise<CreatedSite> {
    return this.createSite.execute(author, merchantId, request);
  }

  /**
   * Changes a site. Fields that are absent in the request do not change.
   *
   * @returns 200 The site, even if nothing has changed.
   * @throws resource.not-found The merchant has no such site.
   * @throws resource.conflict Another site of the merchant has this `siteReference`.
   */
  @Patch(':siteId')
  change(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Param('siteId', numericId) siteId: number,
    @Body() request: ChangeSiteRequest,
  ): Promise<SiteView> {
    return this.changeSite.execute(author, merchantId, siteId, request);
  }
}
