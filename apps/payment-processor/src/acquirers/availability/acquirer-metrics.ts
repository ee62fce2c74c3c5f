import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Clock, createCounter, createHistogram, type Observe, observeMetrics } from '@svc/kernel';
import type { ChargeOutcome } from '../acquirer.js';
import type { ChargeRoute } from '../acquirers.js';
import { AcquirerCircuits } from './acquirer-circuits.js';
import { AcquirerPermits } from './acquirer-permits.js';

const GAUGES = ['svc.acquirer.permits.used', 'svc.acquirer.permits.waiting', 'svc.acquirer.circuit.open'] as const;

/** Metrics of the calls to acquirers. A charge that an open circuit ended without a call is counted, and has no duration. */
@Injectable()
export class AcquirerMetrics implements OnModuleInit, OnModuleDestroy {
  private readonly charges = createCounter('svc.acquirer.charges');
  private readonly duration = createHistogram('svc.acquirer.charge.duration');
  private stop = (): void => undefined;

  constructor(
    @Inject(AcquirerPermits) private readonly permits: AcquirerPermits,
    @Inject(AcquirerCircuits) private readonly circuits: AcquirerCircuits,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.stop = observeMetrics(GAUGES, (observe) => this.read(observe));
  }

  onModuleDestroy(): void {
    this.stop();
  }

  private read(observe: Observe<(typeof GAUGES)[number]>): void {
    for (const { acquirer, mode, value } of this.permits.entries()) {
      observe('svc.acquirer.permits.used', value.used, { acquirer, mode });
      observe('svc.acquirer.permits.waiting', value.waiters, { acquirer, mode });
    }
    for (const { acquirer, mode, value } of this.circuits.entries())
      observe('svc.acquirer.circuit.open', value.state === 'closed' ? 0 : 1, { acquirer, mode });
  }

  /** Measures one call to the acquirer that charges a card. */
  async measure(
    { acquirer, account: { mode } }: ChargeRoute,
    charge: () => Promise<ChargeOutcome>,
  ): Promise<ChargeOutcome> {
    const startMs = this.clock.monotonicMs();
    const outcome = await charge();
    this.duration.record((this.clock.monotonicMs() - startMs) / 1_000, { acquirer, mode });
    this.charges.add(1, { acquirer, mode, outcome: outcome.kind });
    return outcome;
  }

  /** Counts a charge that the open circuit ended without a call. */
  countWithoutCall({ acquirer, account: { mode } }: ChargeRoute): void {
    this.charges.add(1, { acquirer, mode, outcome: 'circuitOpen' });
  }
}
