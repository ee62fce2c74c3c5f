import { EventEmitter } from 'node:events';
import type { ChannelModel } from 'amqplib';
import type { RabbitMqConnection } from '../rabbitmq-connection.js';
import { Topology } from '../rabbitmq-topology.js';
import { RabbitMqRequests } from './rabbitmq-requests.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Sends a request that no replica answers. Returns the times of its pings, and the time and code of its failure. */
async function requestUnanswered(timeoutMs: number) {
  const pingedAt: number[] = [];
  const startedAt = performance.now();
  const channel = Object.assign(new EventEmitter(), {
    consume: () => Promise.resolve(),
    publish: (exchange: string, routingKey: string, _: Buffer, properties: object) => {
      pingedAt.push(performance.now() - startedAt);
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
  const failure = requests.request('charge.v1', {}, timeoutMs).then(
    () => undefined,
    (error: unknown) => ({ error, failedAt: performance.now() - startedAt }),
  );
  await jest.advanceTimersByTimeAsync(timeoutMs);
  return { pingedAt, ...(await failure) };
}

test('a requester searches for a replica every 100 ms, and a request without one fails 100 ms before its deadline', async () => {
  const { pingedAt, error, failedAt } = await requestUnanswered(500);
  expect(error).toMatchObject({ code: 'service.not-ready', retryAfterSeconds: 1 });
  expect(pingedAt).toEqual([0, 100, 200, 300, 400]);
  expect(failedAt).toBe(400);
});

test('a request without a replica is retried for 6 s if its deadline is later', async () => {
  const { error, failedAt } = await requestUnanswered(15_000);
  expect(error).toMatchObject({ code: 'service.not-ready' });
  expect(failedAt).toBe(6_000);
});
