import { RequestRetention } from './request-retention.js';

test('expired requests are deleted in batches without a pause, until no expired request is left', async () => {
  /** For each batch: whether it deleted requests. */
  const deletionResults = [true, true, false];
  const deleteExpired = jest.fn(() => Promise.resolve(deletionResults.shift() ?? false));
  const retention = new RequestRetention({ deleteExpired } as never, {} as never);
  retention.onApplicationBootstrap();
  await new Promise(setImmediate);
  expect(deleteExpired).toHaveBeenCalledTimes(3);
  await retention.onApplicationShutdown();
});
