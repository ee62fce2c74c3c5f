import { observeMetrics } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import { countUnhandled } from './count-unhandled.js';

/**
 * Reports the dead letters and the deferred events of a service. Queries the database only when a collector reads the metrics. Returns a function that ends
 * the reporting.
 */
export function observeConsumer(dataSource: DataSource, service: string): () => void {
  return observeMetrics(['svc.consumer.dead_letters', 'svc.consumer.deferred'], async (observe) => {
    const { deadLetters, deferred } = await countUnhandled(dataSource);
    observe('svc.consumer.dead_letters', deadLetters, { service });
    observe('svc.consumer.deferred', deferred, { service });
  });
}
