import { GaugeReader } from '@svc/testing';
import { observePool } from './pool-metrics.js';

test('a pool reports its used and idle connections, its size and its waiting requests, until the observation ends', async () => {
  const gauges = GaugeReader.begin();
  const pool = { totalCount: 7, idleCount: 3, waitingCount: 2, options: { max: 10 } };
  const end = observePool(pool as Parameters<typeof observePool>[0], 'identity');
  const name = { 'db.client.connection.pool.name': 'identity' };
  expect(await gauges.read('db.client.connection.count')).toEqual([
    { value: 3, attributes: { ...name, 'db.client.connection.state': 'idle' } },
    { value: 4, attributes: { ...name, 'db.client.connection.state': 'used' } },
  ]);
  expect(await gauges.read('db.client.connection.max')).toEqual([{ value: 10, attributes: name }]);
  expect(await gauges.read('db.client.connection.pending_requests')).toEqual([{ value: 2, attributes: name }]);
  end();
  gauges.end();
});
