import { NoticeRetention } from './notice-retention.js';

test('expired notices are deleted in batches without a pause, until no expired notice is left', async () => {
  const batches = [true, true, false];
  const deleteExpired = jest.fn(() => Promise.resolve(batches.shift() ?? false));
  const retention = new NoticeRetention({ deleteExpired } as never, {} as never);
  retention.onApplicationBootstrap();
  await new Promise(setImmediate);
  expect(deleteExpired).toHaveBeenCalledTimes(3);
  await retention.onApplicationShutdown();
});
