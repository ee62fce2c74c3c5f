import { Controller, Get, HttpCode, Inject, Param, Post, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { DueSignal } from '../delivery/due-signal.js';
import { getNotification, type NotificationDetails } from './get-notification.js';
import { listNotifications, type NotificationPage, type NotificationQuery } from './list-notifications.js';
import { replayNotification } from './replay-notification.js';

/** For administrators (header `x-admin-key`, A10): what merchants were told, and telling them again. */
@Controller('admin/v1/notifications')
@UseGuards(AdminKeyGuard)
export class NotificationsController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(DueSignal) private readonly due: DueSignal,
  ) {}

  @Get()
  list(@Query() query: NotificationQuery): Promise<NotificationPage> {
    return listNotifications(this.dataSource, query);
  }

  @Get(':id')
  get(@Param('id') id: string): Promise<NotificationDetails> {
    return getNotification(this.dataSource, id);
  }

  /** 202: due now. 404: no such notification. 409: it is being sent, or its session was paid since. */
  @Post(':id/replay')
  @HttpCode(202)
  async replay(@Param('id') id: string): Promise<{ status: string }> {
    await replayNotification(this.dataSource, this.clock, this.due, id);
    return { status: 'due' };
  }
}
