import { Controller, Get, Inject, Param, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { DataSource } from 'typeorm';
import { getNotification, type NotificationDetails } from './get-notification.query.js';
import { type CircuitSummary, listCircuits } from './list-circuits.query.js';
import { listNotifications, type NotificationPage, type NotificationQuery } from './list-notifications.query.js';

/** Shows administrators the notifications of all merchants and the failing endpoints (header `x-admin-key`, A10). */
@Controller('admin/v1/notifications')
@UseGuards(AdminKeyGuard)
export class NotificationsController {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /**
   * Lists notifications, the newest first, 50 at a time.
   *
   * @throws request.invalid
   */
  @Get()
  list(@Query() query: NotificationQuery): Promise<NotificationPage> {
    return listNotifications(this.dataSource, query);
  }

  /** Lists the failing endpoints and the state of their circuits (E6). */
  @Get('circuits')
  circuits(): Promise<{ circuits: CircuitSummary[] }> {
    return listCircuits(this.dataSource);
  }

  /**
   * Reads a notification with its attempts.
   *
   * @throws resource.not-found
   */
  @Get(':id')
  get(@Param('id') id: string): Promise<NotificationDetails> {
    return getNotification(this.dataSource, id);
  }
}
