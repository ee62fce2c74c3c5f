import { type BatchObservableCallback, type Meter, metrics, type Observable } from '@opentelemetry/api';
import { GaugeReader } from '@svc/testing';
import type { BrokerConnection } from './broker.js';
import { observeBroker } from './broker-metrics.js';

let gauges: GaugeReader;
beforeEach(() => void (gauges = GaugeReader.begin()));
afterEach(() => gauges.end());

const readValues = async (name: string): Promise<unknown[]> => (await gauges.read(name)).map(({ value }) => value);

test.each([
  ['up', 1],
  ['blocked', 0],
  ['unavailable', 0],
] as const)('in the connection state "%s", the gauge svc.broker.connected is %i', async (state, connected) => {
  const connection: BrokerConnection = {
    state,
    missingPermissions: [],
    refusals: new Map([
      ['publish refused.v1', true],
      ['send allowed.v1', false],
    ]),
    unattached: [],
    waiting: () => Promise.resolve(new Map([['a queue', 3]])),
    deadLetters: () => Promise.resolve(2),
  };
  const stopObserving = observeBroker(connection, 'history');
  expect(await readValues('svc.broker.connected')).toEqual([connected]);
  expect(await gauges.read('svc.broker.waiting')).toEqual([
    { value: 3, attributes: { service: 'history', queue: 'a queue' } },
  ]);
  expect(await readValues('svc.broker.dead_letters')).toEqual([2]);
  expect(await gauges.read('svc.broker.refused')).toEqual([
    { value: 1, attributes: { service: 'history', message: 'publish refused.v1' } },
    { value: 0, attributes: { service: 'history', message: 'send allowed.v1' } },
  ]);
  stopObserving();
});

test('if the broker does not respond in time, its connection state is reported, but no message counts', async () => {
  const observed: unknown[] = [];
  const observe = (...[, value]: unknown[]): void => void observed.push(value);
  let collect: BatchObservableCallback | undefined;
  const meter = {
    createObservableGauge: () => ({}) as Observable,
    addBatchObservableCallback: (callback: BatchObservableCallback) => (collect = callback),
  };
  jest.spyOn(metrics, 'getMeter').mockReturnValue(meter as unknown as Meter);
  const rejectAsUnavailable = () => Promise.reject(new Error('no response'));
  const counts = { waiting: rejectAsUnavailable, deadLetters: rejectAsUnavailable };
  observeBroker({ state: 'up', missingPermissions: [], unattached: [], refusals: new Map(), ...counts }, 'history');
  await collect!({ observe });
  expect(observed).toStrictEqual([1]);
  jest.restoreAllMocks();
});
