import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { Store } from './store.js';

/** Longer than the three months in which a payment can be looked up (M2) and a customer comes back with it. */
const KEPT_MS = 120 * 86_400_000;

/** Baskets of one run: a store that was switched off for long must not keep its tills waiting. */
const BASKETS_MAX = 500;

/** Deletes old baskets and payments: the disk of a small computer is small. */
@Injectable()
export class CleanUp {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  runOnce(): void {
    const before = this.clock.later(-KEPT_MS).toISOString();
    const old = this.store
      .list<{ basketId: number }>(
        `SELECT basket_id AS basketId FROM baskets
         WHERE state NOT IN ('open', 'saved') AND changed_at < :before
           AND NOT EXISTS (SELECT 1 FROM outgoing_calls
                           WHERE outgoing_calls.basket_id = baskets.basket_id AND outgoing_calls.state = 'waiting')
         LIMIT :max`,
        { before, max: BASKETS_MAX },
      )
      .map(({ basketId }) => basketId);
    this.store.transaction((tx) => {
      const ids = JSON.stringify(old);
      for (const table of ['outgoing_calls', 'payments', 'lines', 'totals', 'baskets'])
        tx.run(`DELETE FROM ${table} WHERE basket_id IN (SELECT value FROM json_each(:ids))`, { ids });
      // The call of a refund waits for as long as the refund is queued.
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
