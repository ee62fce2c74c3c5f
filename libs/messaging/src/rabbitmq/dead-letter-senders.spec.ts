import { EventEmitter } from 'node:events';
import type { EventEnvelope } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import type { GetMessage } from 'amqplib';
import { RabbitMqNames } from '../routing/rabbitmq-names.js';
import type { RabbitMqConnection } from './rabbitmq-connection.js';
import { RabbitMqDeadLetters } from './rabbitmq-dead-letters.js';

const READER = 'payment-history';
const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };

/** Returns the events of one dead letter that a replay handles. */
async function replayed(user: string, userId: string | undefined, ...types: string[]) {
  const events = types.map((name) => anEvent({ name }, 'a', 1, {}));
  const message = { content: Buffer.from(JSON.stringify(events)), properties: { userId }, fields: {} };
  const queue = [message as unknown as GetMessage];
  const given: string[] = [];
  const channel = Object.assign(new EventEmitter(), {
    get: () => Promise.resolve(queue.shift() ?? false),
    ack: () => given.push('ack'),
    nack: () => given.push('nack'),
    close: () => Promise.resolve(),
  });
  const connection = { current: { createChannel: () => Promise.resolve(channel) } };
  const letters = new RabbitMqDeadLetters(connection as unknown as RabbitMqConnection, new RabbitMqNames(), user, log);
  const handled: EventEnvelope[] = [];
  letters.readBy({ service: READER, handle: (events) => Promise.resolve(void handled.push(...events)) });
  const { replayed, refused } = await letters.replay();
  return { replayed, refused, handled: handled.length, given };
}

const HANDLED = { replayed: 1, refused: 0, handled: 1, given: ['ack'] };
const REFUSED = { replayed: 0, refused: 1, handled: 0, given: ['nack'] };
const OWN = `svc-${READER}`;
const PAID = 'payment.succeeded.v1';

test('a dead letter with an event that its sender does not publish is refused as a whole', async () => {
  expect(await replayed(OWN, 'svc-payment-processor', PAID, 'session.created.v1')).toEqual(REFUSED);
  expect(await replayed(OWN, 'svc-payment-processor', PAID, PAID)).toEqual({ ...HANDLED, handled: 2 });
});

test.each([
  ['the service that publishes its type', OWN, 'svc-payment-processor', PAID, HANDLED],
  ['another service', OWN, 'svc-hosted-gateway', PAID, REFUSED],
  ['the reader itself', OWN, OWN, PAID, REFUSED],
  ['no known sender', OWN, undefined, PAID, REFUSED],
  ['a service, with a type that none publishes', OWN, 'svc-payment-processor', 'other.v1', REFUSED],
  ['a service, with a type that none publishes, under the reader’s own name', OWN, OWN, 'other.v1', REFUSED],
  ['a user named for no service, with a type that none publishes', OWN, 'svc-undefined', 'other.v1', REFUSED],
  ['the one user of all services', 'guest', 'guest', PAID, HANDLED],
  ['another user where all services have one', 'guest', 'svc-payment-processor', PAID, REFUSED],
])('the events of a dead letter from %s', async (_, user, sender, type, expected) => {
  expect(await replayed(user, sender, type)).toEqual(expected);
});
