import type { Transport } from '../transport/transport.js';
import type { Generations } from './generations.js';
import { ReadModelRebuild } from './read-model-rebuild.js';

test.each([
  ['none is being built', undefined, true, [], 'removes'],
  ['events are still to come', 2, false, [], 'removes'],
  ['all events have come', 2, true, [2], 'serves'],
] as const)('the step of a rebuild when %s', async (_, building, isComplete, served, does) => {
  const serve = jest.fn(() => Promise.resolve(true));
  const removeSome = jest.fn(() => Promise.resolve(false));
  const generations = { findBuilding: () => Promise.resolve(building), serve, removeSome };
  const transport = { isReplayComplete: () => Promise.resolve(isComplete) };
  const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const rebuild = new ReadModelRebuild(
    [],
    generations as unknown as Generations,
    transport as unknown as Transport,
    log,
  );
  expect(await rebuild.runOnce()).toBe(does === 'serves');
  expect(serve.mock.calls.flat()).toEqual(served);
  expect(removeSome).toHaveBeenCalledTimes(does === 'removes' ? 1 : 0);
});
