import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { metrics, type ObservableCallback } from '@opentelemetry/api';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { LANES } from './claim-notifications.js';

/** `svc.webhook.due.age`: for how many seconds the oldest due notification has waited; 0 when none is due. */
@Injectable()
export class DeliveryMetrics implements OnModuleInit, OnModuleDestroy {
  private readonly age = metrics
    .getMeter('@svc/webhook-dispatcher')
    .createObservableGauge('svc.webhook.due.age', { unit: 's' });
  private readonly observe: ObservableCallback = async (result) => result.observe(await this.oldestDueSeconds());

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.age.addCallback(this.observe);
  }

  onModuleDestroy(): void {
    this.age.removeCallback(this.observe);
  }

  async oldestDueSeconds(): Promise<number> {
    const now = this.clock.now();
    const [row] = await this.dataSource.query<{ since: Date | null }[]>(
      `WITH RECURSIVE ${LANES} SELECT min(first_due) AS since FROM lanes WHERE first_due <= $1`,
      [now],
    );
    return row?.since ? (now.getTime() - row.since.getTime()) / 1000 : 0;
  }
}
