import { Body, Controller, Header, Inject, Param, Patch, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { Author, type ChangeAuthor } from '../audit-log/change-author.js';
import { numericId } from '../path-ids.js';
import { ChangeSite } from './change-site.js';
import { type CreatedSite, CreateSite } from './create-site.js';
import { ChangeSiteRequest, CreateSiteRequest } from './site.requests.js';
import type { SiteView } from './site.js';

/** Sites of a merchant (A8, A10); they are listed with their merchant. Needs `x-admin-key`; errors are RFC 9457 (C5). */
@Controller('admin/v1/merchants/:merchantId/sites')
@UseGuards(AdminKeyGuard)
export class SitesController {
  constructor(
    @Inject(CreateSite) private readonly createSite: CreateSite,
    @Inject(ChangeSite) private readonly changeSite: ChangeSite,
  ) {}

  /**
   * 201 with a webhook secret of each mode, shown this once. 400 names the fields; 404: no such merchant; 409:
   * `siteReference` is taken, or the merchant has 1000 sites; 503 with Retry-After until webhook-dispatcher has published
   * the key to seal to.
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

  /** 200, also when nothing changes. 400, 404: no such site of this merchant, 409: `siteReference` is taken. */
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
