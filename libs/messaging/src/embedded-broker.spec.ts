import { EmbeddedBroker } from './embedded-broker.js';

test('a consumer that was closed is given nothing more, also by a relay that still knows it', async () => {
  const broker = new EmbeddedBroker();
  const deliver = jest.fn(() => Promise.resolve());
  const subscription = await broker.subscribe({ name: 'history', types: new Set(), deliver });
  const [target] = broker.targets();
  await target!.deliver([]);
  await subscription.close();
  await expect(target!.deliver([])).rejects.toThrow('history has stopped.');
  expect(deliver).toHaveBeenCalledTimes(1);
});
