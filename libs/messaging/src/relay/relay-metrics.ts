import { metrics } from '@opentelemetry/api';
import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import type { RelayTarget } from '../broker/broker.js';
import { findLag } from '../event-log/log-reader.js';

/**
 * Reports the lag of each target of a relay: `svc.relay.waiting` (number of events) and `svc.relay.age` (age of the
 * oldest of them, in seconds). Queries the database only when a collector reads the metrics. Returns a function that
 * ends the reporting.
 */
export function observeLag(dataSource: DataSource, targets: () => readonly RelayTarget[], clock: Clock): () => void {
  const meter = metrics.getMeter('@svc/messaging');
  const waiting = meter.createObservableGauge('svc.relay.waiting', { unit: '{event}' });
  const age = meter.createObservableGauge('svc.relay.age', { unit: 's' });
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = async (result) => {
    const { applicationName: service } = dataSource.options as { applicationName?: string };
    for (const { name: target, types } of targets()) {
      const lag = await findLag(dataSource, target, types);
      const seconds = lag.since ? (clock.now().getTime() - lag.since.getTime()) / 1000 : 0;
      result.observe(waiting, lag.waiting, { service, target });
      result.observe(age, seconds, { service, target });
    }
  };
  meter.addBatchObservableCallback(observe, [waiting, age]);
  return () => meter.removeBatchObservableCallback(observe, [waiting, age]);
}
