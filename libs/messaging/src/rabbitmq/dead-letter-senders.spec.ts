import { EventEmitter } from 'node:events';
import type { EventEnvelope } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import type { GetMessage } from 'amqplib';
import { RabbitMqNames } from '../routing/rabbitmq-names.js';
import type { RabbitMqConnection } from './rabbitmq-connection.js';
import { RabbitMqDeadLetters } from './rabbitmq-dead-letters.js';

const READER = 'payment-history';
const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };

/**
 * Replays one dead letter and returns the result.
 * @param user the RabbitMQ user of this service
 * @param sender the user that published the message, as the broker reports it
 * @param types the types of the events in the message
 */
async function replayDeadLetter(user: string, sender: string | undefined, ...types: string[]) {
  const events = types.map((name) => anEvent({ name }, 'a', 1, {}));
  const message = { content: Buffer.from(JSON.stringify(events)), properties: { userId: sender }, fields: {} };
  const queue = [message as unknown as GetMessage];
  const acknowledgements: string[] = [];
  const channel = Object.assign(new EventEmitter(), {
    get: () => Promise.resolve(queue.shift() ?? false),
    ack: () => acknowledgements.push('ack'),
    nack: () => acknowledgements.push('nack'),
    close: () => Promise.resolve(),
  });
  const connection = { current: { createChannel: () => Promise.resolve(channel) } };
  const letters = new RabbitMqDeadLetters(connection as unknown as RabbitMqConnection, new RabbitMqNames(), user, log);
  const handled: EventEnvelope[] = [];
  letters.setReader({ service: READER, handle: (events) => Promise.resolve(void handled.push(...events)) });
  let handledBefore: number | undefined;
  const { replayed, refused } = await letters.replay(() => {
    handledBefore = handled.length;
    return Promise.resolve();
  });
  return { replayed, refused, handled: handled.length, acknowledgements, handledBefore };
}

/** `handledBefore` is the number of events that were handled when the function for the audit log was called. */
const HANDLED = { replayed: 1, refused: 0, handled: 1, acknowledgements: ['ack'], handledBefore: 0 };
const REFUSED = { replayed: 0, refused: 1, handled: 0, acknowledgements: ['nack'], handledBefore: undefined };
const READER_USER = `svc-${READER}`;
const PAYMENT_SUCCEEDED = 'payment.succeeded.v1';

test('a dead letter is refused if its sender does not publish the type of one of its events', async () => {
  expect(await replayDeadLetter(READER_USER, 'svc-payment-processor', PAYMENT_SUCCEEDED, 'session.created.v1')).toEqual(
    REFUSED,
  );
  expect(await replayDeadLetter(READER_USER, 'svc-payment-processor', PAYMENT_SUCCEEDED, PAYMENT_SUCCEEDED)).toEqual({
    ...HANDLED,
    handled: 2,
  });
});

test.each([
  [
    'handles',
    'from the service that publishes its type',
    READER_USER,
    'svc-payment-processor',
    PAYMENT_SUCCEEDED,
    HANDLED,
  ],
  ['refuses', 'from another service', READER_USER, 'svc-hosted-gateway', PAYMENT_SUCCEEDED, REFUSED],
  ['refuses', 'from the service that reads it', READER_USER, READER_USER, PAYMENT_SUCCEEDED, REFUSED],
  ['refuses', 'without a sender', READER_USER, undefined, PAYMENT_SUCCEEDED, REFUSED],
  ['refuses', 'with a type that no service publishes', READER_USER, 'svc-payment-processor', 'other.v1', REFUSED],
  [
    'refuses',
    'with a type that no service publishes, from the service that reads it',
    READER_USER,
    READER_USER,
    'other.v1',
    REFUSED,
  ],
  // The unknown publisher of a type must not become the text "undefined" in the name of the expected user.
  [
    'refuses',
    'with a type that no service publishes, from the user svc-undefined',
    READER_USER,
    'svc-undefined',
    'other.v1',
    REFUSED,
  ],
  ['handles', 'from guest, if all services share the user guest', 'guest', 'guest', PAYMENT_SUCCEEDED, HANDLED],
  [
    'refuses',
    'from another user, if all services share the user guest',
    'guest',
    'svc-payment-processor',
    PAYMENT_SUCCEEDED,
    REFUSED,
  ],
])('a replay %s a dead letter %s', async (_, __, user, sender, type, expected) => {
  expect(await replayDeadLetter(user, sender, type)).toEqual(expected);
});
