import { NotificationRetention } from './notification-retention.js';

test('expired notifications are deleted in batches without a pause, until no expired notification is left', async () => {
  /** For each batch: whether it deleted notifications. */
  const deletionResults = [true, true, false];
  const deleteExpired = jest.fn(() => Promise.resolve(deletionResults.shift() ?? false));
  const retention = new NotificationRetention({ deleteExpired } as never, {} as never);
  retention.onApplicationBootstrap();
  await new Promise(setImmediate);
  expect(deleteExpired).toHaveBeenCalledTimes(3);
  await retention.onApplicationShutdown();
});
