import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { InvoiceRequestRepository } from './invoice-request.repository.js';

const INTERVAL_MS = 600_000;

/** Deletes expired requests for invoices. */
@Injectable()
export class RequestRetention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(InvoiceRequestRepository) requests: InvoiceRequestRepository,
    @Inject(SERVICE_LOG) log: ServiceLog,
  ) {
    this.job = new PeriodicJob('removal of old requests for invoices', INTERVAL_MS, log, () =>
      requests.deleteExpired(),
    );
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }
}
