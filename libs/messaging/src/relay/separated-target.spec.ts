import type { DataSource } from 'typeorm';
import type { RelayTarget } from '../broker/broker.js';
import type { RelayLoop } from './relay-loop.js';
import { SeparatedTarget } from './separated-target.js';

afterEach(() => jest.restoreAllMocks());

test('a target with a cursor for each consumer searches for new consumers every five seconds', async () => {
  let nowMs = 100_000;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const consumers = ['target/1'];
  const consumerTargets = jest.fn(() =>
    Promise.resolve(consumers.map((name): RelayTarget => ({ name, deliver: () => Promise.resolve() }))),
  );
  const startedLoops: string[] = [];
  const separated = new SeparatedTarget(
    { name: 'target', deliver: () => Promise.resolve(), consumerTargets },
    {
      dataSource: { query: () => Promise.resolve([]) } as unknown as DataSource,
      log: { info: jest.fn(), warn: jest.fn(), error: jest.fn() },
      startLoop: ({ name }) => {
        startedLoops.push(name);
        return { isCaughtUp: false } as RelayLoop;
      },
    },
  );
  expect(await separated.begin()).toBe(true);
  consumers.push('target/2');
  nowMs += 5_000;
  await separated.step();
  expect([consumerTargets.mock.calls.length, startedLoops]).toEqual([1, ['target/1']]);
  nowMs += 1;
  for (let times = 0; times < 2; times++) await separated.step();
  expect([consumerTargets.mock.calls.length, startedLoops]).toEqual([2, ['target/1', 'target/2']]);
});
