import { NoticeRetention } from './notice-retention.js';

test('expired notices are deleted in batches without a pause, until no expired notice is left', async () => {
  /** For each batch: whether it deleted notices. */
  const deletionResults = [true, true, false];
  const deleteExpired = jest.fn(() => Promise.resolve(deletionResults.shift() ?? false));
  const retention = new NoticeRetention({ deleteExpired } as never, {} as never);
  retention.onApplicationBootstrap();
  await new Promise(setImmediate);
  expect(deleteExpired).toHaveBeenCalledTimes(3);
  await retention.onApplicationShutdown();
});
