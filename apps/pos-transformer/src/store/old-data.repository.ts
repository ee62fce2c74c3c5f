import { Injectable } from '@nestjs/common';
import type { Reader, Tx } from './store.js';

/** Baskets of one run: a store that was switched off for long must not keep its tills waiting. */
const BASKETS_MAX = 500;

/** What the store no longer needs, of all tables: their foreign keys set the order in which rows go. */
@Injectable()
export class OldDataRepository {
  /** Baskets that have been over since a time and wait for no call. */
  listBaskets(reader: Reader, before: string): number[] {
    return reader
      .list<{ basketId: number }>(
        `SELECT basket_id AS basketId FROM baskets
         WHERE state NOT IN ('open', 'saved') AND changed_at < :before
           AND NOT EXISTS (SELECT 1 FROM outgoing_calls
                           WHERE outgoing_calls.basket_id = baskets.basket_id AND outgoing_calls.state = 'waiting')
         LIMIT :max`,
        { before, max: BASKETS_MAX },
      )
      .map(({ basketId }) => basketId);
  }

  deleteBaskets(tx: Tx, basketIds: readonly number[]): void {
    const ids = JSON.stringify(basketIds);
    for (const table of ['outgoing_calls', 'payments', 'lines', 'totals', 'baskets'])
      tx.run(`DELETE FROM ${table} WHERE basket_id IN (SELECT value FROM json_each(:ids))`, { ids });
  }

  /** The call of a refund waits for as long as the refund is queued. */
  deleteRefunds(tx: Tx, before: string): void {
    tx.run(
      `DELETE FROM outgoing_calls WHERE refund_id IN
           (SELECT refund_id FROM refunds WHERE created_at < :before AND state <> 'queued')`,
      { before },
    );
    tx.run(`DELETE FROM refunds WHERE created_at < :before AND state <> 'queued'`, { before });
  }

  deletePaymentsOfOthers(tx: Tx, before: string): void {
    tx.run('DELETE FROM payments WHERE basket_id IS NULL AND seen_at < :before', { before });
  }

  deleteAlerts(tx: Tx, before: string): void {
    tx.run('DELETE FROM alerts WHERE at < :before', { before });
  }
}
