import type { ConsumeMessage } from 'amqplib';
import { anEvent } from '@svc/testing';
import { asEvents, asReplayRequest, isRequestOf } from './rabbitmq-messages.js';
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

describe('the events of a message', () => {
  const event = {
    id,
    type,
    aggregateId: 'a',
    aggregateVersion: 1,
    occurredAt: '2026-03-01T10:00:00.000Z',
    payload: {},
  };
  const read = (content: unknown, fields = { exchange: names.events, routingKey: `${type}.from.session.page` }) =>
    asEvents(
      { content: Buffer.from(JSON.stringify(content)), fields, properties: { headers: {} } } as ConsumeMessage,
      'payment-history',
      names,
    );

  it('are one, or those of a list in its order', () => {
    expect(read(event)).toEqual([event]);
    const others = [event, { ...event, aggregateVersion: 2 }];
    expect(read(others)).toEqual(others);
  });

  it.each<[string, unknown]>([
    ['an empty list', []],
    ['a list in a list', [[event]]],
    ['null', null],
    ['null in a list', [event, null]],
    ['an id that is none', { ...event, id: 'a' }],
    ['no time', { ...event, occurredAt: undefined }],
    ['a version that is text', { ...event, aggregateVersion: '1' }],
  ])('are none in %s', (_, content) => {
    expect(() => read(content)).toThrow(/is no event|has no events/);
  });

  it('are refused, all of them, where one is not of the type that the routing key grants', () => {
    expect(() => read([event, { ...event, type: 'payment.failed.v1' }])).toThrow('its routing key does not');
    const past = { exchange: names.past, routingKey: names.pastKey('payment-history', type) };
    expect(read([event, event], past)).toEqual([event, event]);
    const ofAnother = { exchange: names.past, routingKey: names.pastKey('code-decoder', type) };
    expect(() => read([event], ofAnother)).toThrow('its routing key does not');
  });
});

// A service chooses exchange and routing key of a dead-letter exchange, and the broker checks neither.
test.each([
  ['published', {}, type, true],
  [
    'sent by a dead-letter exchange',
    { 'x-death': [{}] },
    `Error: ${type} was dead-lettered here, not published.`,
    false,
  ],
])('an event and a request that were %s', (_, headers, read, isRequest) => {
  const event = anEvent({ name: type }, 'a', 1, {});
  const message = (exchange: string, routingKey: string): ConsumeMessage =>
    ({ ...messageOf(event), fields: { exchange, routingKey }, properties: { headers } }) as ConsumeMessage;
  expect(typeOrError(() => asEvents(message(names.events, type), 'payment-history', names)[0]!.type)).toBe(read);
  expect(isRequestOf('charge.v1', message(names.commands, 'charge.v1'), names)).toBe(isRequest);
});

function typeOrError(read: () => string): string {
  try {
    return read();
  } catch (error) {
    return String(error);
  }
}
