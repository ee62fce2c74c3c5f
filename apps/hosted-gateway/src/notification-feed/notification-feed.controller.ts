import { Controller, Get, Header, Inject, Query, UseGuards } from '@nestjs/common';
import type { AuthenticatedSite } from '@svc/auth';
import type { NotificationFeed } from '@svc/contracts';
import { DataSource } from 'typeorm';
import { CallingSite, RequireApiKeyGuard, SiteGuard } from '../sessions/site.guard.js';
import { readFeed } from './read-feed.query.js';

/** The notification feed. Merchants read it after an outage to get the notifications that they missed (E5, E8). */
@Controller(['api/v3.1/notifications', 'api/v3/notifications'])
@UseGuards(SiteGuard, RequireApiKeyGuard)
export class NotificationFeedController {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Lists at most 100 notifications of the site, the oldest first (E8). Includes notifications that were not delivered.
   *
   * @throws request.invalid The cursor is not valid.
   */
  @Get()
  @Header('cache-control', 'no-store')
  read(@CallingSite() site: AuthenticatedSite, @Query('after') after: unknown): Promise<NotificationFeed> {
    return readFeed(this.dataSource, site, after);
  }
}
