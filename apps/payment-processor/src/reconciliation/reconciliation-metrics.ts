import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type BatchObservableCallback, metrics } from '@opentelemetry/api';
import { Clock } from '@svc/kernel';
import { ReconciliationRepository } from './reconciliation.repository.js';

/**
 * `svc.reconciliation.differences`: number of differences that the last nightly run found. `svc.reconciliation.failed`:
 * number of days that the last nightly run could not compare. `svc.reconciliation.age`: seconds since the last
 * successful nightly run; absent before the first such run.
 */
@Injectable()
export class ReconciliationMetrics implements OnModuleInit, OnModuleDestroy {
  private readonly meter = metrics.getMeter('@svc/payment-processor');
  private readonly differences = this.meter.createObservableGauge('svc.reconciliation.differences', { unit: '{row}' });
  private readonly failed = this.meter.createObservableGauge('svc.reconciliation.failed', { unit: '{day}' });
  private readonly age = this.meter.createObservableGauge('svc.reconciliation.age', { unit: 's' });
  private readonly gauges = [this.differences, this.failed, this.age];
  private readonly observe: BatchObservableCallback = async (result) => {
    const { differences, failed, endedAt } = await this.runs.readLastNight();
    result.observe(this.differences, differences);
    result.observe(this.failed, failed);
    if (endedAt) result.observe(this.age, (this.clock.now().getTime() - endedAt.getTime()) / 1000);
  };

  constructor(
    @Inject(ReconciliationRepository) private readonly runs: ReconciliationRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.meter.addBatchObservableCallback(this.observe, this.gauges);
  }

  onModuleDestroy(): void {
    this.meter.removeBatchObservableCallback(this.observe, this.gauges);
  }
}
