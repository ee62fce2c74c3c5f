import { Body, Controller, Header, Inject, Param, Patch, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { Author, type ChangeAuthor } from '../audit-log/change-author.js';
import { numericId } from '../path-ids.js';
import { ChangeSite } from './change-site.js';
import { type CreatedSite, CreateSite } from './create-site.js';
import type { SiteView } from './site.js';
import { ChangeSiteRequest, CreateSiteRequest } from './site.requests.js';

/** Sites of a merchant (A8, A10); a merchant's response lists them. Needs `x-admin-key`; errors are RFC 9457 (C5). */
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
   * @returns 201 The site, with a webhook secret of each mode that is shown only once.
   * @throws resource.not-found
   * @throws resource.conflict `siteReference` is taken, or the merchant has 1000 sites.
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
   * Changes a site; absent fields do not change.
   *
   * @returns 200 The site, also when nothing changes.
   * @throws resource.not-found The merchant has no such site.
   * @throws resource.conflict `siteReference` is taken.
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
