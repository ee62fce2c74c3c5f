import { metrics } from '@opentelemetry/api';
import { MeterProvider, type MetricData, MetricReader } from '@opentelemetry/sdk-metrics';
import { METRICS } from '@svc/contracts';
import { createCounter, createHistogram, observeMetrics } from './metrics.js';

class Reader extends MetricReader {
  async read(): Promise<MetricData[]> {
    const { resourceMetrics } = await this.collect();
    return resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  }
  protected override onForceFlush = (): Promise<void> => Promise.resolve();
  protected override onShutdown = (): Promise<void> => Promise.resolve();
}

let reader: Reader;
beforeEach(() => {
  reader = new Reader();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
});
afterEach(() => metrics.disable());

test('a counter has the unit and the meaning of the list', async () => {
  createCounter('svc.mails').add(2, { outcome: 'sent' });
  createCounter('svc.page.csp-reports').add(1);
  const [mails, reports] = await reader.read();
  const { meaning } = METRICS['svc.mails'];
  expect(mails).toMatchObject({
    descriptor: { name: 'svc.mails', unit: '{mail}', description: meaning },
    dataPoints: [{ value: 2, attributes: { outcome: 'sent' } }],
  });
  expect(reports).toMatchObject({ dataPoints: [{ value: 1, attributes: {} }] });
});

test('a histogram has the buckets of the list', async () => {
  createHistogram('svc.webhook.first.delay').record(0.2, { recipient: 'site' });
  const [{ dataPoints }] = (await reader.read()) as [MetricData];
  const { buckets } = METRICS['svc.webhook.first.delay'];
  expect(dataPoints).toMatchObject([{ value: { count: 1, buckets: { boundaries: buckets } } }]);
});

test('gauges are read when a collector asks, until the observation ends', async () => {
  let age = 1;
  const end = observeMetrics(['svc.webhook.due.age', 'db.client.connection.max'], (observe) => {
    observe('svc.webhook.due.age', age);
    observe('db.client.connection.max', 10, { 'db.client.connection.pool.name': 'identity' });
  });
  const readValues = async (): Promise<unknown[]> =>
    (await reader.read()).flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ value, attributes }) => [descriptor.name, value, attributes]),
    );
  const max = ['db.client.connection.max', 10, { 'db.client.connection.pool.name': 'identity' }];
  expect(await readValues()).toEqual([['svc.webhook.due.age', 1, {}], max]);
  age = 2;
  expect(await readValues()).toEqual([['svc.webhook.due.age', 2, {}], max]);
  end();
  age = 3;
  // The SDK keeps the last value.
  expect(await readValues()).toEqual([['svc.webhook.due.age', 2, {}], max]);
});

test('a read that hangs delays no other metric for longer than three seconds, and is not begun twice', async () => {
  jest.useFakeTimers();
  const { promise: hanging, resolve: release } = Promise.withResolvers<void>();
  let reads = 0;
  observeMetrics(['svc.ledger.unsealed.age'], async (observe) => {
    reads++;
    await hanging;
    observe('svc.ledger.unsealed.age', 7);
  });
  observeMetrics(['svc.webhook.due.age'], (observe) => observe('svc.webhook.due.age', 1));
  const readNames = async (): Promise<string[]> => {
    const reading = reader.read();
    await jest.advanceTimersByTimeAsync(3_000);
    return (await reading).filter(({ dataPoints }) => dataPoints.length > 0).map(({ descriptor }) => descriptor.name);
  };
  expect(await readNames()).toEqual(['svc.webhook.due.age']);
  expect(await readNames()).toEqual(['svc.webhook.due.age']);
  expect(reads).toBe(1);
  release();
  await jest.advanceTimersByTimeAsync(1);
  expect((await readNames()).toSorted()).toEqual(['svc.ledger.unsealed.age', 'svc.webhook.due.age']);
  jest.useRealTimers();
});
