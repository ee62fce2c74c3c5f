import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Clock, type Observe, observeMetrics } from '@svc/kernel';
import { CircuitRepository } from './circuit.repository.js';
import { DeliveryLeaseRepository } from './delivery-lease.repository.js';

const NAMES = ['svc.webhook.due.age', 'svc.webhook.unsigned', 'svc.webhook.circuits'] as const;

/** Reports the webhooks that wait, and the circuits of failing endpoints. */
@Injectable()
export class DeliveryMetrics implements OnModuleInit, OnModuleDestroy {
  private stop = (): void => undefined;

  constructor(
    @Inject(DeliveryLeaseRepository) private readonly leases: DeliveryLeaseRepository,
    @Inject(CircuitRepository) private readonly circuits: CircuitRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.stop = observeMetrics(NAMES, (observe) => this.read(observe));
  }

  onModuleDestroy(): void {
    this.stop();
  }

  private async read(observe: Observe<(typeof NAMES)[number]>): Promise<void> {
    observe('svc.webhook.due.age', await this.oldestDueSeconds());
    observe('svc.webhook.unsigned', await this.countUnsigned());
    const { open, halfOpen } = await this.circuits.countByState(this.clock.now());
    observe('svc.webhook.circuits', open, { state: 'open' });
    observe('svc.webhook.circuits', halfOpen, { state: 'halfOpen' });
  }

  async oldestDueSeconds(): Promise<number> {
    const now = this.clock.now();
    const since = await this.leases.findOldestDue(now);
    return since ? Math.max(0, now.getTime() - since.getTime()) / 1000 : 0;
  }

  countUnsigned(): Promise<number> {
    return this.leases.countUnsigned();
  }
}
