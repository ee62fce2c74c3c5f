import { type BatchObservableCallback, metrics, type Observable } from '@opentelemetry/api';
import { newDataSource } from '@svc/persistence';
import { newMessagingDatabase } from '@svc/testing';
import { observeConsumer } from './consumer-metrics.js';

test('the gauges count dead letters and deferred events until they are handled', async () => {
  const callbacks = new Set<BatchObservableCallback>();
  const meter = metrics.getMeter('test');
  jest.spyOn(metrics, 'getMeter').mockReturnValue({
    ...meter,
    createObservableGauge: (name: string) => name as unknown as Observable,
    addBatchObservableCallback: (callback) => void callbacks.add(callback),
    removeBatchObservableCallback: (callback) => void callbacks.delete(callback),
  } as typeof meter);
  const database = await newMessagingDatabase();
  const dataSource = newDataSource({ url: database.url, applicationName: 'test' });
  await dataSource.initialize();

  const end = observeConsumer(dataSource, 'things');
  await dataSource.query(
    `INSERT INTO dead_letters SELECT gen_random_uuid(), 'a.v1', '{}', 'broken', 5, now() FROM generate_series(1, 3)`,
  );
  await dataSource.query(
    `INSERT INTO deferred_events SELECT gen_random_uuid(), 'a.v1', '{}', 'blocked', now(), now(), now() FROM generate_series(1, 2)`,
  );
  const observed: unknown[] = [];
  for (const callback of callbacks)
    await callback({ observe: (gauge, count, attributes) => void observed.push([gauge, count, attributes]) });
  expect(observed).toEqual([
    ['svc.consumer.dead_letters', 3, { service: 'things' }],
    ['svc.consumer.deferred', 2, { service: 'things' }],
  ]);
  end();
  expect(callbacks.size).toBe(0);
  await dataSource.destroy();
  await database.drop();
});
