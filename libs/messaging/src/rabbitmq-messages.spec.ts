import type { ConsumeMessage } from 'amqplib';
import { anEvent } from '@svc/testing';
import { asEvent, asReplayRequest, isRequestOf } from './rabbitmq-messages.js';
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

// A service chooses exchange and routing key of a dead-letter exchange, and the broker checks neither.
test.each([
  ['published', {}, type, true],
  ['sent by a dead-letter exchange', { 'x-death': [{}] }, `Error: ${type} was dead-lettered here, not published.`, false],
])('an event and a request that were %s', (_, headers, read, isRequest) => {
  const event = anEvent({ name: type }, 'a', 1, {});
  const message = (exchange: string, routingKey: string): ConsumeMessage =>
    ({ ...messageOf(event), fields: { exchange, routingKey }, properties: { headers } }) as ConsumeMessage;
  expect(typeOrError(() => asEvent(message(names.events, type), 'payment-history', names).type)).toBe(read);
  expect(isRequestOf('charge.v1', message(names.commands, 'charge.v1'), names)).toBe(isRequest);
});

function typeOrError(read: () => string): string {
  try {
    return read();
  } catch (error) {
    return String(error);
  }
}
