import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, createCounter } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { Acquirers } from '../acquirers/acquirers.js';
import { ApplyReport } from './apply-report.js';
import { ReportRepository, type StoredReport } from './report.repository.js';

const POLL_MS = 500;
const BATCH_SIZE = 50;
const LEASE_MS = 30_000;
/** Delays between applications of a message that cannot be applied yet, or whose application failed; then the last one. */
const RETRY_DELAYS_MS: readonly number[] = [1_000, 5_000, 30_000, 300_000];

/**
 * Applies the messages that acquirers send by themselves. Messages are independent of each other: one that cannot be
 * applied is retried later and delays no other. The effect of a message depends only on the rows that it changes, so a
 * second application after a crash changes nothing.
 */
@Injectable()
export class ApplyReports implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly effects = createCounter('svc.acquirer.reports');
  private readonly job: PeriodicJob;

  constructor(
    @Inject(ReportRepository) private readonly reports: ReportRepository,
    @Inject(ApplyReport) private readonly applyReport: ApplyReport,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.job = new PeriodicJob('acquirer reports', POLL_MS, log, async () => (await this.runStep()) === BATCH_SIZE);
  }

  onApplicationBootstrap(): void {
    if (this.acquirers.separatelyCapturing.length > 0) this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Applies stored messages soon, without waiting for the next period. */
  trigger(): void {
    this.job.trigger();
  }

  /** Applies all due messages, at most one batch. Returns their number. */
  async runStep(): Promise<number> {
    const due = await this.reports.leaseDue(this.clock.later(LEASE_MS), BATCH_SIZE);
    for (const report of due) await this.apply(report);
    return due.length;
  }

  private async apply({ reportId, report, applications }: StoredReport): Promise<void> {
    const { acquirer, kind } = report;
    try {
      const result = await this.applyReport.execute(report);
      if (result === 'later') return await this.postpone(reportId, applications);
      await this.reports.finish(reportId, result);
      this.effects.add(1, { acquirer, kind, effect: result.effect });
      const fields = { reportId, acquirer, kind, note: result.note };
      if (result.effect === 'incident') this.log.error(fields, 'a report of an acquirer is an incident');
      if (result.effect === 'ignored') this.log.warn(fields, 'a report of an acquirer has no effect');
    } catch (error) {
      this.log.error({ err: error, reportId, acquirer, kind }, 'a report of an acquirer could not be applied');
      await this.postpone(reportId, applications);
    }
  }

  private postpone(reportId: string, applications: number): Promise<void> {
    const delay = RETRY_DELAYS_MS[applications - 1] ?? RETRY_DELAYS_MS.at(-1)!;
    return this.reports.postpone(reportId, this.clock.later(delay));
  }
}
