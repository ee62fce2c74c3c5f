import { metrics } from '@opentelemetry/api';
import type { BrokerConnection } from './broker.js';

/**
 * Reports whether the broker can be spoken to, and how much waits in the queues that this process reads:
 * `svc.broker.connected` (1 or 0) and `svc.broker.waiting`. Asked only when a collector is. Returns how to end it.
 */
export function observeBroker(connection: BrokerConnection, service: string): () => void {
  const meter = metrics.getMeter('@svc/messaging');
  const connected = meter.createObservableGauge('svc.broker.connected');
  const waiting = meter.createObservableGauge('svc.broker.waiting', { unit: '{message}' });
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = async (result) => {
    result.observe(connected, connection.state === 'up' ? 1 : 0, { service });
    // A broker that is away says nothing, which the gauge above has said.
    const queues = await connection.waiting().catch(() => new Map<string, number>());
    for (const [queue, count] of queues) result.observe(waiting, count, { service, queue });
  };
  meter.addBatchObservableCallback(observe, [connected, waiting]);
  return () => meter.removeBatchObservableCallback(observe, [connected, waiting]);
}
