import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { AuditTrail, type ChangeAuthor } from '@svc/auth';
import { Clock } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { formatUTCDay, previousUTCDay } from '../ledger/day.js';
import type { DayReport } from './day-report.js';
import { startOfDay } from './day-slices.js';
import { ReconcileDay } from './reconcile-day.js';
import {
  type LeasedRun,
  MAX_STARTS,
  ReconciliationRepository,
  RENEW_AFTER_MS,
  type RunRequest,
} from './reconciliation.repository.js';

const POLL_MS = 2_000;
/**
 * Start of the nightly run, counted from midnight UTC. By then most payments of the day have ended, and the ledger of
 * the day is closed.
 */
const NIGHTLY_START_MS = 1_800_000;

/** Runs requested reconciliations, one at a time, and requests the nightly reconciliations. */
@Injectable()
export class ReconciliationJob implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;
  private lastNight = '';
  private readonly stopping = new AbortController();

  constructor(
    @Inject(ReconciliationRepository) private readonly runs: ReconciliationRepository,
    @Inject(ReconcileDay) private readonly reconcileDay: ReconcileDay,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
  ) {
    this.job = new PeriodicJob('reconciliation', POLL_MS, log, () => this.runStep(this.stopping.signal));
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.job.stop();
  }

  /** Requests a run of an administrator, and starts the job without waiting for its next period. Returns the run's id. */
  async request(author: ChangeAuthor, request: RunRequest): Promise<string> {
    const requestedId = await inTransaction(this.dataSource, async (tx) => {
      const runId = await this.runs.request(tx, request);
      const { day, merchantId } = request;
      const merchant = merchantId === undefined ? {} : { merchantId };
      await this.audit.append(tx, author, { action: 'reconciliation.requested', ...merchant, after: { runId, day } });
      return runId;
    });
    this.job.trigger();
    return requestedId;
  }

  /**
   * Runs the next requested reconciliation. False when there is none. `stopping` aborts the run, and another replica
   * starts the run again.
   */
  async runStep(stopping?: AbortSignal): Promise<boolean> {
    await this.requestNight();
    const run = await this.runs.lease();
    if (!run) return false;
    await this.execute(run, stopping);
    return true;
  }

  private async requestNight(): Promise<void> {
    const now = this.clock.now();
    const night = formatUTCDay(now);
    if (night === this.lastNight || now.getTime() < startOfDay(night).getTime() + NIGHTLY_START_MS) return;
    await this.runs.requestNight(night, previousUTCDay(now));
    this.lastNight = night;
  }

  private async execute(run: LeasedRun, stopping: AbortSignal | undefined): Promise<void> {
    const { runId, day, merchantId } = run;
    try {
      const watermark = await this.reconcileDay.findWatermark();
      const report = await this.reconcileDay.execute(run, watermark, this.createRenewLease(run, stopping));
      await this.runs.finish(run, watermark, report);
      this.logReport(run, report);
    } catch (error) {
      // The lease will expire, and another replica will start the run again.
      if (stopping?.aborted === true) return;
      if (run.isNightly && run.starts < MAX_STARTS) {
        this.log.warn({ runId, day, err: error }, 'reconciliation: failed, will be retried');
        return;
      }
      this.log.error({ runId, day, merchantId, err: error }, 'reconciliation: failed');
      await this.runs.fail(run, error instanceof Error ? error : new Error(String(error)));
    }
    // The statement lines are deleted last. If the process crashes here, a later run deletes the remaining lines.
    await this.reconcileDay.deleteStatements(run);
  }

  /** Returns a function that renews the lease, but only when the renewal is due. */
  private createRenewLease(run: LeasedRun, stopping: AbortSignal | undefined): () => Promise<void> {
    let renewedAt = this.clock.now().getTime();
    return async () => {
      stopping?.throwIfAborted();
      const now = this.clock.now().getTime();
      if (now - renewedAt < RENEW_AFTER_MS) return;
      await this.runs.renew(run);
      renewedAt = now;
    };
  }

  private logReport({ day, merchantId }: LeasedRun, { differences, open, listedDifferences }: DayReport): void {
    const [first] = listedDifferences;
    if (!first) {
      this.log.info({ day, merchantId, differences, open }, 'reconciliation: all books agree');
      return;
    }
    const { book, kind, key, field } = first;
    this.log.error(
      { day, merchantId, differences, open, first: { book, kind, key, field } },
      'reconciliation: books differ',
    );
  }
}
