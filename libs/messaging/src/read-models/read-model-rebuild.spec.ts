import type { Transport } from '../transport/transport.js';
import type { Generations } from './generations.js';
import { ReadModelRebuild } from './read-model-rebuild.js';

test.each([
  ['deletes rows of retired generations if no generation is being built', undefined, true, [], 'removes'],
  ['deletes rows of retired generations while events of the replay are missing', 2, false, [], 'removes'],
  ['makes the built generation serve when all events of the replay have arrived', 2, true, [2], 'serves'],
] as const)('a step of a rebuild %s', async (_, building, isComplete, served, action) => {
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
  expect(await rebuild.runStep()).toBe(action === 'serves');
  expect(serve.mock.calls.flat()).toEqual(served);
  expect(removeSome).toHaveBeenCalledTimes(action === 'removes' ? 1 : 0);
});
