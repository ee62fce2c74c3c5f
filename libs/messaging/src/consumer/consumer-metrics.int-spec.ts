import { newDataSource } from '@svc/persistence';
import { GaugeReader, newMessagingDatabase } from '@svc/testing';
import { observeConsumer } from './consumer-metrics.js';

test('the gauges count dead letters and deferred events until they are handled', async () => {
  const gauges = GaugeReader.begin();
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
  const attributes = { service: 'things' };
  expect(await gauges.read('svc.consumer.dead_letters')).toEqual([{ value: 3, attributes }]);
  expect(await gauges.read('svc.consumer.deferred')).toEqual([{ value: 2, attributes }]);

  end();
  const query = jest.spyOn(dataSource, 'query');
  await gauges.read('svc.consumer.dead_letters');
  expect(query).not.toHaveBeenCalled();
  gauges.end();
  await dataSource.destroy();
  await database.drop();
});
