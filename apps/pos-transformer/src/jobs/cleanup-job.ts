import { Inject, Injectable } from '@nestjs/common';
import { PlatformClock } from '../clock/platform-clock.js';
import { OldDataRepository } from '../store/old-data.repository.js';
import { Store } from '../store/store.js';

/** Data are kept for longer than the three months during which payments can be read from the platform (M2). */
const RETENTION_MS = 120 * 86_400_000;

/** Deletes old baskets, payments, refunds and alerts, because computers in stores have small disks. */
@Injectable()
export class CleanupJob {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(OldDataRepository) private readonly oldData: OldDataRepository,
    @Inject(PlatformClock) private readonly clock: Pick<PlatformClock, 'later' | 'isPlatformTimeKnown'>,
  ) {}

  runStep(): void {
    // A wrong clock of the store's computer must not delete the data of today.
    if (!this.clock.isPlatformTimeKnown) return;
    const before = this.clock.later(-RETENTION_MS).toISOString();
    const basketIds = this.oldData.listBaskets(this.store, before);
    this.store.transaction((tx) => {
      this.oldData.deleteBaskets(tx, basketIds);
      this.oldData.deleteRefunds(tx, before);
      this.oldData.deletePaymentsWithoutBasket(tx, before);
      this.oldData.deleteAlerts(tx, before);
    });
  }
}
