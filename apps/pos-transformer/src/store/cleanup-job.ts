import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { Store } from './store.js';

/** Longer than the three months in which payments can be read (M2) and customers ask about them. */
const RETENTION_MS = 120 * 86_400_000;

/** Limits the transaction, during which tills wait, after a store was switched off for a long time. */
const MAX_BASKETS_PER_RUN = 500;

/** Deletes old baskets, payments, refunds and alerts: store computers have small disks. */
@Injectable()
export class CleanupJob {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  runOnce(): void {
    const before = this.clock.later(-RETENTION_MS).toISOString();
    const old = this.store
      .list<{ basketId: number }>(
        `SELECT basket_id AS basketId FROM baskets
         WHERE state NOT IN ('open', 'saved') AND changed_at < :before
           AND NOT EXISTS (SELECT 1 FROM outgoing_calls
                           WHERE outgoing_calls.basket_id = baskets.basket_id AND outgoing_calls.state = 'waiting')
         LIMIT :max`,
        { before, max: MAX_BASKETS_PER_RUN },
      )
      .map(({ basketId }) => basketId);
    this.store.transaction((tx) => {
      const ids = JSON.stringify(old);
      for (const table of ['outgoing_calls', 'payments', 'lines', 'totals', 'baskets'])
        tx.run(`DELETE FROM ${table} WHERE basket_id IN (SELECT value FROM json_each(:ids))`, { ids });
      // A queued refund still has a waiting call.
      tx.run(
        `DELETE FROM outgoing_calls WHERE refund_id IN
           (SELECT refund_id FROM refunds WHERE created_at < :before AND state <> 'queued')`,
        { before },
      );
      tx.run(`DELETE FROM refunds WHERE created_at < :before AND state <> 'queued'`, { before });
      tx.run('DELETE FROM payments WHERE basket_id IS NULL AND seen_at < :before', { before });
      tx.run('DELETE FROM alerts WHERE at < :before', { before });
    });
  }
}
