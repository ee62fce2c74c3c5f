import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Clock, type Observe, observeMetrics } from '@svc/kernel';
import { Acquirers } from '../acquirers/acquirers.js';
import { AdminSettlementReportsQuery } from './admin-settlement-reports.query.js';

const NAMES = [
  'svc.settlement.reports.waiting.age',
  'svc.settlement.reports.age',
  'svc.settlement.lines.unmatched',
] as const;

/** Reports, for each acquirer and mode in which a merchant has an account, or which has announced a report. */
@Injectable()
export class SettlementReportMetrics implements OnModuleInit, OnModuleDestroy {
  private stop = (): void => undefined;

  constructor(
    @Inject(AdminSettlementReportsQuery) private readonly reports: AdminSettlementReportsQuery,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.stop = observeMetrics(NAMES, (observe) => this.read(observe));
  }

  onModuleDestroy(): void {
    this.stop();
  }

  private async read(observe: Observe<(typeof NAMES)[number]>): Promise<void> {
    const now = this.clock.now();
    const ageOf = (time: Date | null): number => (time ? Math.max(0, now.getTime() - time.getTime()) / 1_000 : 0);
    const unmatched = await this.reports.countUnmatched(now);
    for (const counts of await this.reports.countReports(this.acquirers.namesWithSettlementReports, now)) {
      const { acquirer, mode, oldestWaiting, oldestUnreported } = counts;
      const lines = unmatched.find((one) => one.acquirer === acquirer && one.mode === mode);
      observe('svc.settlement.reports.waiting.age', ageOf(oldestWaiting), { acquirer, mode });
      observe('svc.settlement.reports.age', ageOf(oldestUnreported), { acquirer, mode });
      observe('svc.settlement.lines.unmatched', lines?.count ?? 0, { acquirer, mode });
    }
  }
}
