import { observeMetrics } from '@svc/kernel';
import type { BrokerConnection } from './broker.js';

const NAMES = ['svc.broker.connected', 'svc.broker.refused', 'svc.broker.waiting', 'svc.broker.dead_letters'] as const;

/**
 * Reports the state of the broker. Queries the broker only when a collector reads the metrics.
 * Returns a function that ends the reporting.
 */
export function observeBroker(connection: BrokerConnection, service: string): () => void {
  return observeMetrics(NAMES, async (observe) => {
    observe('svc.broker.connected', connection.state === 'up' ? 1 : 0, { service });
    // A series that is no longer observed would keep its last value in the collector.
    for (const [message, isRefused] of connection.refusals)
      observe('svc.broker.refused', isRefused ? 1 : 0, { service, message });
    // An error needs no log entry: svc.broker.connected already reports that the broker is unavailable.
    const queues = await connection.waiting().catch(() => new Map<string, number>());
    for (const [queue, count] of queues) observe('svc.broker.waiting', count, { service, queue });
    const deadLetterCount = await connection.deadLetters().catch(() => undefined);
    if (deadLetterCount !== undefined) observe('svc.broker.dead_letters', deadLetterCount, { service });
  });
}
