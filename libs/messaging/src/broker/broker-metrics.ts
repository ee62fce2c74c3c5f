import { metrics } from '@opentelemetry/api';
import type { BrokerConnection } from './broker.js';

/**
 * Reports the state of the broker: `svc.broker.connected` (1 or 0), `svc.broker.refused` (1 or 0 for each message type
 * that the broker has refused), `svc.broker.waiting` (messages in the queues that this process reads) and
 * `svc.broker.dead_letters`. Queries the broker only when a collector reads the metrics.
 * Returns a function that ends the reporting.
 */
export function observeBroker(connection: BrokerConnection, service: string): () => void {
  const meter = metrics.getMeter('@svc/messaging');
  const connected = meter.createObservableGauge('svc.broker.connected');
  const waiting = meter.createObservableGauge('svc.broker.waiting', { unit: '{message}' });
  const refused = meter.createObservableGauge('svc.broker.refused');
  const deadLetters = meter.createObservableGauge('svc.broker.dead_letters', { unit: '{message}' });
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = async (result) => {
    result.observe(connected, connection.state === 'up' ? 1 : 0, { service });
    // A series that is no longer observed would keep its last value in the collector.
    for (const [message, isRefused] of connection.refusals)
      result.observe(refused, isRefused ? 1 : 0, { service, message });
    // An error needs no log entry: svc.broker.connected already reports that the broker is unavailable.
    const queues = await connection.waiting().catch(() => new Map<string, number>());
    for (const [queue, count] of queues) result.observe(waiting, count, { service, queue });
    const deadLetterCount = await connection.deadLetters().catch(() => undefined);
    if (deadLetterCount !== undefined) result.observe(deadLetters, deadLetterCount, { service });
  };
  meter.addBatchObservableCallback(observe, [connected, refused, waiting, deadLetters]);
  return () => meter.removeBatchObservableCallback(observe, [connected, refused, waiting, deadLetters]);
}
