import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { metrics, type ObservableCallback } from '@opentelemetry/api';
import { Clock } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { LANES } from './claim-notifications.js';

/** More than this are not counted: an alarm needs no exact number. */
const UNSIGNED_COUNTED_MAX = 10_000;

/**
 * `svc.webhook.due.age`: for how many seconds the oldest due notification has waited; 0 when none is due.
 * `svc.webhook.unsigned`: notifications that no key signs, so that their merchants are not notified; it should be 0.
 */
@Injectable()
export class DeliveryMetrics implements OnModuleInit, OnModuleDestroy {
  private readonly meter = metrics.getMeter('@svc/webhook-dispatcher');
  private readonly age = this.meter.createObservableGauge('svc.webhook.due.age', { unit: 's' });
  private readonly unsigned = this.meter.createObservableGauge('svc.webhook.unsigned', { unit: '{notification}' });
  private readonly observeAge: ObservableCallback = async (result) => result.observe(await this.oldestDueSeconds());
  private readonly observeUnsigned: ObservableCallback = async (result) => result.observe(await this.countUnsigned());

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
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
    const [row] = await this.dataSource.query<{ since: Date | null }[]>(
      `WITH RECURSIVE ${LANES} SELECT min(first_due) AS since FROM lanes`,
    );
    return row?.since ? Math.max(0, now.getTime() - row.since.getTime()) / 1000 : 0;
  }

  /** Given up ones included: they are replayed once the keys exist. Up to 10 000. */
  async countUnsigned(): Promise<number> {
    const [row] = await this.dataSource.query<[{ count: number }]>(
      `SELECT count(*) AS count FROM (
         SELECT 1 FROM notifications
          WHERE unsigned_since IS NOT NULL AND state IN ('pending', 'exhausted') LIMIT ${UNSIGNED_COUNTED_MAX}) AS unsigned`,
    );
    return row.count;
  }
}
