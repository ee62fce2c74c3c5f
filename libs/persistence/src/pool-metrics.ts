import { observeMetrics } from '@svc/kernel';
import type pg from 'pg';

/** Reports the connections of a pool. Returns a function that ends the reporting. */
export function observePool(
  pool: Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount' | 'options'>,
  name: string,
): () => void {
  const labels = { 'db.client.connection.pool.name': name };
  return observeMetrics(
    ['db.client.connection.count', 'db.client.connection.max', 'db.client.connection.pending_requests'],
    (observe) => {
      const { idleCount: idle, totalCount, waitingCount } = pool;
      observe('db.client.connection.count', idle, { ...labels, 'db.client.connection.state': 'idle' });
      observe('db.client.connection.count', totalCount - idle, { ...labels, 'db.client.connection.state': 'used' });
      observe('db.client.connection.max', pool.options.max ?? 0, labels);
      observe('db.client.connection.pending_requests', waitingCount, labels);
    },
  );
}
