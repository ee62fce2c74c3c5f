import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { metrics, type ObservableCallback } from '@opentelemetry/api';
import { Clock } from '@svc/kernel';
import { DeliveryLeaseRepository } from './delivery-lease.repository.js';

/**
 * `svc.webhook.due.age`: seconds since the oldest due notification became due, or 0 when no notification is due.
 * `svc.webhook.unsigned`: number of notifications that are not sent because they cannot be signed. It should be 0.
 */
@Injectable()
export class DeliveryMetrics implements OnModuleInit, OnModuleDestroy {
  private readonly meter = metrics.getMeter('@svc/webhook-dispatcher');
  private readonly age = this.meter.createObservableGauge('svc.webhook.due.age', { unit: 's' });
  private readonly unsigned = this.meter.createObservableGauge('svc.webhook.unsigned', { unit: '{notification}' });
  private readonly observeAge: ObservableCallback = async (result) => result.observe(await this.oldestDueSeconds());
  private readonly observeUnsigned: ObservableCallback = async (result) => result.observe(await this.countUnsigned());

  constructor(
    @Inject(DeliveryLeaseRepository) private readonly leases: DeliveryLeaseRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.age.addCallback(this.observeAge);
    this.unsigned.addCallback(this.observeUnsigned);
  }

  onModuleDestroy(): void {
    this.age.removeCallback(this.observeAge);
    this.unsigned.removeCallback(this.observeUnsigned);
  }

  async oldestDueSeconds(): Promise<number> {
    const now = this.clock.now();
    const since = await this.leases.findOldestDue();
    return since ? Math.max(0, now.getTime() - since.getTime()) / 1000 : 0;
  }

  countUnsigned(): Promise<number> {
    return this.leases.countUnsigned();
  }
}
