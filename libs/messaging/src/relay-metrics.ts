import { metrics } from '@opentelemetry/api';
import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import type { RelayTarget } from './broker.js';
import { lagBehind } from './log-reader.js';

/**
 * Reports, for each target of a relay, how many events wait and for how long the oldest has: `svc.relay.waiting` and
 * `svc.relay.age` (seconds). Asked only when a collector is. Returns how to end it.
 */
export function observeLag(dataSource: DataSource, targets: () => readonly RelayTarget[], clock: Clock): () => void {
  const meter = metrics.getMeter('@svc/messaging');
  const waiting = meter.createObservableGauge('svc.relay.waiting', { unit: '{event}' });
  const age = meter.createObservableGauge('svc.relay.age', { unit: 's' });
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = async (result) => {
    const { applicationName: service } = dataSource.options as { applicationName?: string };
    for (const { name: target, types } of targets()) {
      const lag = await lagBehind(dataSource, target, types);
      const seconds = lag.since ? (clock.now().getTime() - lag.since.getTime()) / 1000 : 0;
      result.observe(waiting, lag.waiting, { service, target });
      result.observe(age, seconds, { service, target });
    }
  };
  meter.addBatchObservableCallback(observe, [waiting, age]);
  return () => meter.removeBatchObservableCallback(observe, [waiting, age]);
}
