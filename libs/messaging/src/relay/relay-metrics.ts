import { type Clock, observeMetrics } from '@svc/kernel';
import type { DataSource } from 'typeorm';
import type { RelayTarget } from '../broker/broker.js';
import { findLag } from '../event-log/log-reader.js';

/**
 * Reports the lag of each target of a relay: the number of events, and the age of the oldest of them. Queries the database only when a collector reads the metrics. Returns a function that
 * ends the reporting.
 */
export function observeLag(dataSource: DataSource, targets: () => readonly RelayTarget[], clock: Clock): () => void {
  const { applicationName: service = '' } = dataSource.options as { applicationName?: string };
  return observeMetrics(['svc.relay.waiting', 'svc.relay.age'], async (observe) => {
    for (const { name: target, types } of targets()) {
      const lag = await findLag(dataSource, target, types);
      const seconds = lag.since ? (clock.now().getTime() - lag.since.getTime()) / 1000 : 0;
      observe('svc.relay.waiting', lag.waiting, { service, target });
      observe('svc.relay.age', seconds, { service, target });
    }
  });
}
