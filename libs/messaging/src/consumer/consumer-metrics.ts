import { observeMetrics } from '@svc/kernel';
import type { DataSource } from 'typeorm';

/** Counting ends at this number, so that a full table does not make the query slow. */
const MAX_COUNTED = 10_000;

/**
 * Reports the dead letters and the deferred events of a service. Queries the database only when a collector reads the metrics. Returns a function that ends
 * the reporting.
 */
export function observeConsumer(dataSource: DataSource, service: string): () => void {
  return observeMetrics(['svc.consumer.dead_letters', 'svc.consumer.deferred'], async (observe) => {
    const [count] = await dataSource.query<{ dead: number; deferred: number }[]>(
      `SELECT (SELECT count(*) FROM (SELECT 1 FROM dead_letters LIMIT ${MAX_COUNTED}) AS counted) AS dead,
              (SELECT count(*) FROM (SELECT 1 FROM deferred_events LIMIT ${MAX_COUNTED}) AS counted) AS deferred`,
    );
    observe('svc.consumer.dead_letters', count!.dead, { service });
    observe('svc.consumer.deferred', count!.deferred, { service });
  });
}
