import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { Store, type Tx } from '../store/store.js';

interface Alert {
  readonly alertId: number;
  /** ISO 8601. */
  readonly at: string;
  readonly message: string;
}

/**
 * Messages for the cashier about calls whose outcome is known only after the till got its response. The till page shows
 * them.
 */
@Injectable()
export class AlertRepository {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  append(tx: Tx, siteId: number, till: string, message: string): void {
    tx.run('INSERT INTO alerts (site_id, till, at, message) VALUES (:siteId, :till, :at, :message)', {
      siteId,
      till,
      at: this.clock.nowISO(),
      message,
    });
  }

  /** The newest first. Alerts of refunds have no till, so every till of the site shows them. */
  list(siteId: number, till: string): Alert[] {
    return this.store.list(
      `SELECT alert_id AS alertId, at, message FROM alerts WHERE site_id = :siteId AND till IN (:till, '')
       ORDER BY alert_id DESC LIMIT 20`,
      { siteId, till },
    );
  }
}
