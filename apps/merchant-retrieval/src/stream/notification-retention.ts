import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { NotificationRepository } from './notification.repository.js';

const INTERVAL_MS = 600_000;

/** Deletes expired notifications. */
@Injectable()
export class NotificationRetention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(NotificationRepository) notifications: NotificationRepository,
    @Inject(SERVICE_LOG) log: ServiceLog,
  ) {
    this.job = new PeriodicJob('removal of old notifications', INTERVAL_MS, log, () => notifications.deleteExpired());
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }
}
