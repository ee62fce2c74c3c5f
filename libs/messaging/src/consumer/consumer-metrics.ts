import { metrics } from '@opentelemetry/api';
import type { DataSource } from 'typeorm';

/** Counting ends at this number, so that a full table does not make the query slow. */
const MAX_COUNTED = 10_000;

/**
 * Reports the dead letters and the deferred events of a service: `svc.consumer.dead_letters` and
 * `svc.consumer.deferred`. Queries the database only when a collector reads the metrics. Returns a function that ends
 * the reporting.
 */
export function observeConsumer(dataSource: DataSource, service: string): () => void {
  const meter = metrics.getMeter('@svc/messaging');
  const deadLetters = meter.createObservableGauge('svc.consumer.dead_letters', { unit: '{message}' });
  const deferred = meter.createObservableGauge('svc.consumer.deferred', { unit: '{message}' });
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = async (result) => {
    const [count] = await dataSource.query<{ dead: number; deferred: number }[]>(
      `SELECT (SELECT count(*) FROM (SELECT 1 FROM dead_letters LIMIT ${MAX_COUNTED}) AS counted) AS dead,
              (SELECT count(*) FROM (SELECT 1 FROM deferred_events LIMIT ${MAX_COUNTED}) AS counted) AS deferred`,
    );
    result.observe(deadLetters, count!.dead, { service });
    result.observe(deferred, count!.deferred, { service });
  };
  meter.addBatchObservableCallback(observe, [deadLetters, deferred]);
  return () => meter.removeBatchObservableCallback(observe, [deadLetters, deferred]);
}
