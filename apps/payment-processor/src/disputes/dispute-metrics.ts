import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { DisputeStage, Mode } from '@svc/contracts';
import { Clock, type Observe, observeMetrics } from '@svc/kernel';
import { AdminDisputesQuery } from './admin-disputes.query.js';

const MODES: readonly Mode[] = ['test', 'live'];
/** The stages without a decision. */
const OPEN_STAGES = ['inquiry', 'opened', 'debited', 'reversed'] as const satisfies readonly DisputeStage[];

/** Also reported without a deadline: a series that is no longer observed would keep its last value in the collector. */
const LONGEST_DEADLINE_SECONDS = 31 * 86_400;

const NAMES = ['svc.disputes.open', 'svc.disputes.nearest.deadline'] as const;

/** Reports the disputes without a decision, for each mode and each stage. */
@Injectable()
export class DisputeMetrics implements OnModuleInit, OnModuleDestroy {
  private stop = (): void => undefined;

  constructor(
    @Inject(AdminDisputesQuery) private readonly disputes: AdminDisputesQuery,
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
    const counted = await this.disputes.countOpen(now);
    for (const mode of MODES)
      for (const stage of OPEN_STAGES) {
        const disputes = counted.find((one) => one.mode === mode && one.stage === stage);
        observe('svc.disputes.open', disputes?.count ?? 0, { mode, stage });
        const deadline = disputes?.nearestDeadline;
        const seconds = deadline ? (deadline.getTime() - now.getTime()) / 1_000 : LONGEST_DEADLINE_SECONDS;
        observe('svc.disputes.nearest.deadline', Math.min(seconds, LONGEST_DEADLINE_SECONDS), { mode, stage });
      }
  }
}
