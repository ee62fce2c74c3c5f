import { anEvent } from '@svc/testing';
import type { ConsumeMessage, GetMessage } from 'amqplib';
import { ReplayServedV1 } from '../consumer/subscribed-types.js';
import { RabbitMqNames } from '../routing/rabbitmq-names.js';
import { asDeadLetter, asEvents, asReplayRequest, isRequestOf } from './rabbitmq-messages.js';

const names = new RabbitMqNames();
const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const type = 'payment.succeeded.v1';

/** A request as a service publishes it, under the event type whose publisher reads it. */
function messageOf(content: object, routingKey = type): ConsumeMessage {
  const fields = { exchange: names.replays, routingKey };
  return { content: Buffer.from(JSON.stringify(content)), fields } as ConsumeMessage;
}

test('a replay request contains the service that receives the replay, and the event type of its routing key', () => {
  const request = { id, service: 'payment-history', type };
  expect(asReplayRequest(messageOf(request), names)).toEqual(request);
});

// The broker refuses messages to these names, and closes the channel on which the publisher sends events and responses.
test.each([
  ['a name that no service can have', { id, service: 'payment.history', type }],
  ['a name of several words of a routing key', { id, service: 'a.b.#', type }],
  ['no name', { id, service: '', type }],
  ['a name that is too long for a routing key', { id, service: 'a'.repeat(65), type }],
  ['a type of another publisher', { id, service: 'payment-history', type: 'session.created.v1' }],
  ['an id that is none', { id: 'a', service: 'payment-history', type }],
  ['a name that is no text', { id, service: ['payment-history'], type }],
])('a request for a replay with %s is refused', (_, request) => {
  expect(() => asReplayRequest(messageOf(request), names)).toThrow('not a replay request');
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

  it('are one event, or a list of events in its order', () => {
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
    ['a type that is no text', { ...event, type: 1 }],
    ['an aggregate that is no text', { ...event, aggregateId: 1 }],
  ])('are none if the message is %s', (_, content) => {
    expect(() => read(content)).toThrow(/is not an event|has no events/);
  });

  it('are all refused if one does not have the type that the routing key allows', () => {
    expect(() => read([event, { ...event, type: 'payment.failed.v1' }])).toThrow(
      'routing key of the message is not that of',
    );
    const past = { exchange: names.past, routingKey: names.pastKey('payment-history', type) };
    expect(read([event, event], past)).toEqual([event, event]);
    const ofAnother = { exchange: names.past, routingKey: names.pastKey('code-decoder', type) };
    expect(() => read([event], ofAnother)).toThrow('routing key of the message is not that of');
  });
});

// A service chooses the exchange and routing key for its dead letters, and the broker checks neither.
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

// Releases before ADR 26 send their messages through the default exchange.
test.each([
  ['of its exchange and name', 'commands', 'charge.v1', true],
  ['of the default exchange and its queue', '', names.commandQueue('charge.v1'), true],
  ['of its exchange and another name', 'commands', 'refund.v1', false],
  ['of the default exchange and another queue', '', 'charge.v1', false],
  ['of another exchange and its name', 'events', 'charge.v1', false],
  ['of another exchange and its queue', 'events', names.commandQueue('charge.v1'), false],
])('a message %s is or is not a command request', (_, exchange, routingKey, isRequest) => {
  const fields = { exchange: exchange === '' ? '' : `svc.${exchange}`, routingKey };
  expect(isRequestOf('charge.v1', { fields, properties: {} } as ConsumeMessage, names)).toBe(isRequest);
});

test.each([
  ['of old events, to its reader', 'past', 'payment-history.payment.succeeded.v1', true],
  ['of the default exchange, to its reader', '', names.pastQueue('payment-history'), true],
  ['of the default exchange, to another queue', '', names.pastQueue('code-decoder'), false],
  ['of old events, to the queue', 'past', names.pastQueue('payment-history'), false],
  ['of events, with the key of old ones', 'events', 'payment-history.payment.succeeded.v1', false],
  ['of events, to the queue', 'events', names.pastQueue('payment-history'), false],
])('the end of a replay is accepted only with the routing key of its type: %s', (_, exchange, routingKey, isTaken) => {
  const served = anEvent(ReplayServedV1, id, 1, { type });
  const fields = { exchange: exchange === '' ? '' : `svc.${exchange}`, routingKey };
  const message = { ...messageOf(served), fields, properties: { headers: {} } } as ConsumeMessage;
  const taken = typeOrError(() => asEvents(message, 'payment-history', names)[0]!.type);
  const refused = `Error: The routing key of the message is not that of ${ReplayServedV1.name}.`;
  expect(taken).toBe(isTaken ? ReplayServedV1.name : refused);
});

test.each([
  [
    'what the broker says of it',
    { messageId: 'a', type, headers: { 'x-first-death-reason': 'rejected', 'x-death': [{ time: { value: 60 } }] } },
    { messageId: 'a', type, reason: 'rejected', deadLetteredAt: new Date(60_000) },
  ],
  ['nothing', {}, { messageId: null, type: null, reason: null, deadLetteredAt: null }],
  [
    'what cannot be read, or is long',
    { messageId: 'a'.repeat(101), type: 1, headers: { 'x-death': [{ time: 60 }] } },
    { messageId: 'a'.repeat(100), type: null, reason: null, deadLetteredAt: null },
  ],
  [
    'a time in another form',
    { headers: { 'x-death': 'now' } },
    { messageId: null, type: null, reason: null, deadLetteredAt: null },
  ],
])('administrators see a dead letter with %s', (_, properties, seen) => {
  expect(asDeadLetter({ properties } as unknown as GetMessage)).toEqual(seen);
});
