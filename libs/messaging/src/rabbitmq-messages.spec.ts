import type { ConsumeMessage } from 'amqplib';
import { asReplayRequest } from './rabbitmq-messages.js';
import { RabbitMqNames } from './rabbitmq-names.js';

const names = new RabbitMqNames();
const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const type = 'payment.succeeded.v1';

/** As a service publishes it, under the type whose publisher is to read it. */
function messageOf(content: object, routingKey = type): ConsumeMessage {
  const fields = { exchange: names.replays, routingKey };
  return { content: Buffer.from(JSON.stringify(content)), fields } as ConsumeMessage;
}

test('a request for a replay names the service that gets it, and the type that it was published under', () => {
  const request = { id, service: 'payment-history', type };
  expect(asReplayRequest(messageOf(request), names)).toEqual(request);
});

// The broker refuses what a publisher sends there, and closes the channel of its events and answers.
test.each([
  ['a name that no service can have', { id, service: 'payment.history', type }],
  ['a name of several words of a routing key', { id, service: 'a.b.#', type }],
  ['no name', { id, service: '', type }],
  ['a name that is too long for a routing key', { id, service: 'a'.repeat(65), type }],
  ['a type of another publisher', { id, service: 'payment-history', type: 'session.created.v1' }],
])('a request for a replay with %s is refused', (_, request) => {
  expect(() => asReplayRequest(messageOf(request), names)).toThrow('no request for the past');
});
