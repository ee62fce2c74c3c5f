import { EventEmitter } from 'node:events';
import type { ChannelModel } from 'amqplib';
import type { RabbitMqConnection } from '../rabbitmq-connection.js';
import { Topology } from '../rabbitmq-topology.js';
import { RabbitMqRequests } from './rabbitmq-requests.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('a requester searches for a replica every 100 ms, and a request without one fails 100 ms before its deadline', async () => {
  const sentAt: number[] = [];
  const startedAt = Date.now();
  const channel = Object.assign(new EventEmitter(), {
    consume: () => Promise.resolve(),
    publish: (exchange: string, routingKey: string, _: Buffer, properties: object) => {
      sentAt.push(Date.now() - startedAt);
      channel.emit('return', { fields: { exchange, routingKey }, properties });
    },
  });
  const connection = {
    confirmChannel: () => Promise.resolve(channel),
    isUsableWithin: () => Promise.resolve(true),
    unavailableMs: 0,
  } as unknown as RabbitMqConnection;
  const topology = Object.assign(new Topology(), { declareReplies: () => Promise.resolve('replies') });
  const requests = new RabbitMqRequests(connection, topology, 'hosted-gateway', () => Promise.resolve(true));
  await requests.setUp({} as ChannelModel);
  const request = requests.request('charge.v1', {}, 500);
  const failure = request.catch((error: unknown) => error);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(await failure).toMatchObject({ code: 'service.not-ready', retryAfterSeconds: 1 });
  expect(sentAt).toEqual([0, 100, 200, 300, 400]);
});
