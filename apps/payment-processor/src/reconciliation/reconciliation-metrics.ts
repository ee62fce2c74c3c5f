import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Clock, type Observe, observeMetrics } from '@svc/kernel';
import { ReconciliationRepository } from './reconciliation.repository.js';

const NAMES = ['svc.reconciliation.differences', 'svc.reconciliation.failed', 'svc.reconciliation.age'] as const;

/** Reports the result of the last nightly reconciliation. */
@Injectable()
export class ReconciliationMetrics implements OnModuleInit, OnModuleDestroy {
  private stop = (): void => undefined;

  constructor(
    @Inject(ReconciliationRepository) private readonly runs: ReconciliationRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.stop = observeMetrics(NAMES, (observe) => this.read(observe));
  }

  onModuleDestroy(): void {
    this.stop();
  }

  private async read(observe: Observe<(typeof NAMES)[number]>): Promise<void> {
    const { differences, failed, endedAt } = await this.runs.readLastNight();
    observe('svc.reconciliation.differences', differences);
    observe('svc.reconciliation.failed', failed);
    if (endedAt) observe('svc.reconciliation.age', (this.clock.now().getTime() - endedAt.getTime()) / 1000);
  }
}
