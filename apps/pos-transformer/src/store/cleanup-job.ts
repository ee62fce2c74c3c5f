import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { OldDataRepository } from './old-data.repository.js';
import { Store } from './store.js';

/** Longer than the three months in which payments can be read (M2) and customers ask about them. */
const RETENTION_MS = 120 * 86_400_000;

/** Deletes old baskets, payments, refunds and alerts: store computers have small disks. */
@Injectable()
export class CleanupJob {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(OldDataRepository) private readonly old: OldDataRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  runOnce(): void {
    const before = this.clock.later(-RETENTION_MS).toISOString();
    const baskets = this.old.listBaskets(this.store, before);
    this.store.transaction((tx) => {
      this.old.deleteBaskets(tx, baskets);
      this.old.deleteRefunds(tx, before);
      this.old.deletePaymentsWithoutBasket(tx, before);
      this.old.deleteAlerts(tx, before);
    });
  }
}
