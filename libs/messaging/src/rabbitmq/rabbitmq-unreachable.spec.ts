import { RabbitMqBroker } from './rabbitmq-broker.js';

test('the state of a broker that was never connected is unavailable', async () => {
  const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  const broker = new RabbitMqBroker({ url: 'amqp://127.0.0.1:1', service: 'history', log });
  const { state } = broker.connection;
  await broker.close();
  expect(state).toBe('unavailable');
});
