import { Body, Controller, HttpCode, Inject, Param, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { type ReplayedPage, ReplayMany } from './replay-many.js';
import { ReplayManyRequest } from './replay-many.request.js';
import { ReplayNotification } from './replay-notification.js';

/**
 * Replays notifications (E5) for administrators (header `x-admin-key`, A10). Errors are RFC 9457 (C5).
 *
 * @group Notifications
 */
@Controller('admin/v1/notifications')
@UseGuards(AdminKeyGuard)
export class ReplaysController {
  constructor(
    @Inject(ReplayNotification) private readonly replayNotification: ReplayNotification,
    @Inject(ReplayMany) private readonly replayMany: ReplayMany,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /**
   * Sends one notification again (E5).
   *
   * @returns 202 The notification is scheduled for immediate delivery.
   * @throws resource.not-found
   * @throws resource.conflict The notification is being sent, or its session has been paid.
   */
  @Post(':id/replay')
  @HttpCode(202)
  async one(@Author() author: ChangeAuthor, @Param('id') id: string): Promise<{ status: string }> {
    await this.replayNotification.execute(id, { author });
    return { status: 'due' };
  }

  /**
   * Sends many notifications again (E5).
   *
   * @returns 202 The number of notifications that are due now, at most 1000. Continue with `after` while it is not
   * null.
   */
  @Post('replays')
  @HttpCode(202)
  async many(@Author() author: ChangeAuthor, @Body() request: ReplayManyRequest): Promise<ReplayedPage> {
    const page = await this.replayMany.execute(author, request);
    this.log.info({ ...request, ...page }, 'notifications replayed');
    return page;
  }
}
