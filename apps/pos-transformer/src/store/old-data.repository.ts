import { Injectable } from '@nestjs/common';
import type { Reader, Tx } from './store.js';

/**
 * Maximum number of baskets that one transaction deletes. It is low, because tills wait until the transaction ends.
 * After weeks in which the store was closed, a transaction without this limit would take long.
 */
const MAX_BASKETS_PER_RUN = 500;

/** Deletes old rows. The foreign keys determine the order in which tables are cleaned. */
@Injectable()
export class OldDataRepository {
  /** Closed baskets that have not changed since `before` and have no waiting call. */
  listBaskets(reader: Reader, before: string): number[] {
    return reader
      .list<{ basketId: number }>(
        `SELECT basket_id AS basketId FROM baskets
         WHERE state NOT IN ('open', 'saved') AND changed_at < :before
           AND NOT EXISTS (SELECT 1 FROM outgoing_calls
                           WHERE outgoing_calls.basket_id = baskets.basket_id AND outgoing_calls.state = 'waiting')
         LIMIT :max`,
        { before, max: MAX_BASKETS_PER_RUN },
      )
      .map(({ basketId }) => basketId);
  }

  deleteBaskets(tx: Tx, basketIds: readonly number[]): void {
    const ids = JSON.stringify(basketIds);
    for (const table of ['outgoing_calls', 'payments', 'lines', 'totals', 'baskets'])
      tx.run(`DELETE FROM ${table} WHERE basket_id IN (SELECT value FROM json_each(:ids))`, { ids });
  }

  /** Deletes refunds with their calls, except queued refunds, which have a waiting call. */
  deleteRefunds(tx: Tx, before: string): void {
    tx.run(
      `DELETE FROM outgoing_calls WHERE refund_id IN
           (SELECT refund_id FROM refunds WHERE created_at < :before AND state <> 'queued')`,
      { before },
    );
    tx.run(`DELETE FROM refunds WHERE created_at < :before AND state <> 'queued'`, { before });
  }

  /** Payments that belong to no basket of this store. */
  deletePaymentsWithoutBasket(tx: Tx, before: string): void {
    tx.run('DELETE FROM payments WHERE basket_id IS NULL AND seen_at < :before', { before });
  }

  deleteAlerts(tx: Tx, before: string): void {
    tx.run('DELETE FROM alerts WHERE at < :before', { before });
  }
}
