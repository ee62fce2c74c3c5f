import { type Attributes, metrics } from '@opentelemetry/api';
import type { Clock } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import type { RelayTarget } from '../broker/broker.js';
import { findLag } from '../event-log/log-reader.js';
import type { HorizonWatch } from './horizon-watch.js';

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

/**
 * Reports two metrics. `svc.relay.held_back`: for how many seconds an older transaction has held back events of the
 * log, or 0 if there is no such transaction. `svc.relay.holder`: the same value, with the application and the database
 * of that transaction as attributes. The process id is only in the log, so that there are few series. Returns a
 * function that ends the reporting.
 */
export function observeHeldBack(dataSource: DataSource, horizon: HorizonWatch): () => void {
  const meter = metrics.getMeter('@svc/messaging');
  const heldBack = meter.createObservableGauge('svc.relay.held_back', { unit: 's' });
  const holders = meter.createObservableGauge('svc.relay.holder', { unit: 's' });
  // A series that is no longer observed keeps its last value in the collector, so former series are set to 0.
  const attributesByHolder = new Map<string, Attributes>();
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = (result) => {
    const { applicationName: service } = dataSource.options as { applicationName?: string };
    const { seconds = 0, holder } = horizon.heldBack ?? {};
    result.observe(heldBack, seconds, { service });
    const { application = 'unknown', database = 'unknown' } = holder ?? {};
    const current = `${database} ${application}`;
    if (seconds > 0)
      attributesByHolder.set(current, { service, 'holder.application': application, 'holder.database': database });
    for (const [name, attributes] of attributesByHolder)
      result.observe(holders, name === current ? seconds : 0, attributes);
  };
  meter.addBatchObservableCallback(observe, [heldBack, holders]);
  return () => meter.removeBatchObservableCallback(observe, [heldBack, holders]);
}
