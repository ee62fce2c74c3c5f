import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { NoticeRepository } from './notice.repository.js';

const INTERVAL_MS = 600_000;

/** Deletes expired notices. */
@Injectable()
export class NoticeRetention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(@Inject(NoticeRepository) notices: NoticeRepository, @Inject(SERVICE_LOG) log: ServiceLog) {
    this.job = new PeriodicJob('removal of old notices', INTERVAL_MS, log, () => notices.deleteExpired());
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }
}
