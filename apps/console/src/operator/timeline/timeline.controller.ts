import { Controller, Get, Header, Inject, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { SearchTimelines } from './search-timelines.js';
import type { TimelineSearch } from './timeline.js';
import { parseTimelineQuery } from './timeline-query.js';

/**
 * Payments of all merchants with all that happened to them, for operators. Needs `x-admin-key`.
 *
 * @group Timeline
 */
@Controller('admin/v1/timeline')
@UseGuards(AdminKeyGuard)
export class TimelineController {
  constructor(@Inject(SearchTimelines) private readonly timelines: SearchTimelines) {}

  /**
   * Finds payments, and sessions and invoices without a payment, by `find`: a payment reference, an order number (in any
   * case), the id of a session or an invoice, a code, or together with `day` the last four digits of a card. `day` is in
   * UTC. One match is returned with its timeline from all services; several are listed, newest first. Services that do not
   * respond within three seconds are listed in `missing`.
   *
   * @query find required
   * @throws request.invalid
   */
  @Get()
  @Header('cache-control', 'no-store')
  find(
    @Query('find') find?: unknown,
    @Query('day') day?: unknown,
    @Query('mode') mode?: unknown,
  ): Promise<TimelineSearch> {
    return this.timelines.search(parseTimelineQuery({ find, day, mode }));
  }
}
