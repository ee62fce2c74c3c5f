import { Body, Controller, HttpCode, Inject, Param, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { Clock } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { DueSignal } from '../delivery/due-signal.js';
import { type ReplayedPage, replayMany } from './replay-many.js';
import { ReplayManyRequest } from './replay-many.request.js';
import { replayNotification } from './replay-notification.js';

/**
 * For administrators (header `x-admin-key`, A10): telling merchants again (E5). Errors are RFC 9457 (C5).
 *
 * @group Notifications
 */
@Controller('admin/v1/notifications')
@UseGuards(AdminKeyGuard)
export class ReplaysController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(DueSignal) private readonly due: DueSignal,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /**
   * Sends one notification again (E5).
   *
   * @returns 202 The notification is scheduled for immediate delivery.
   * @throws resource.not-found
   * @throws resource.conflict It is being sent, or its session was paid later.
   */
  @Post(':id/replay')
  @HttpCode(202)
  async one(@Param('id') id: string): Promise<{ status: string }> {
    await replayNotification(this.dataSource, this.clock, this.due, id);
    return { status: 'due' };
  }

  /**
   * Sends many notifications again (E5).
   *
   * @returns 202 How many are due now, at most 1000; go on with `after` while it is not null.
   */
  @Post('replays')
  @HttpCode(202)
  async many(@Body() request: ReplayManyRequest): Promise<ReplayedPage> {
    const page = await replayMany(this.dataSource, this.clock, this.due, request);
    this.log.info({ ...request, ...page }, 'notifications replayed');
    return page;
  }
}
