import { metrics } from '@opentelemetry/api';
import type { DataSource } from 'typeorm';

/** More than this are not counted. */
const COUNTED_MAX = 10_000;

/**
 * Reports how many messages a service gave up on and how many it keeps for later: `svc.consumer.dead_letters` and
 * `svc.consumer.deferred`. Asked only when a collector is. Returns how to end it.
 */
export function observeConsumer(dataSource: DataSource, service: string): () => void {
  const meter = metrics.getMeter('@svc/messaging');
  const deadLetters = meter.createObservableGauge('svc.consumer.dead_letters', { unit: '{message}' });
  const deferred = meter.createObservableGauge('svc.consumer.deferred', { unit: '{message}' });
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = async (result) => {
    const [count] = await dataSource.query<{ dead: number; deferred: number }[]>(
      `SELECT (SELECT count(*) FROM (SELECT 1 FROM dead_letters LIMIT ${COUNTED_MAX}) AS counted) AS dead,
              (SELECT count(*) FROM (SELECT 1 FROM deferred_events LIMIT ${COUNTED_MAX}) AS counted) AS deferred`,
    );
    result.observe(deadLetters, count!.dead, { service });
    result.observe(deferred, count!.deferred, { service });
  };
  meter.addBatchObservableCallback(observe, [deadLetters, deferred]);
  return () => meter.removeBatchObservableCallback(observe, [deadLetters, deferred]);
}
