import { anEvent } from '@svc/testing';
import type { ConsumeMessage, GetMessage } from 'amqplib';
import { ReplayServedV1 } from '../consumer/subscribed-types.js';
import { RabbitMqNames } from '../routing/rabbitmq-names.js';
import { isSentTo, parseEvents, parseReplayRequest, toDeadLetter } from './rabbitmq-messages.js';

const names = new RabbitMqNames();
const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const type = 'payment.succeeded.v1';
const KEY = names.commandKey('charge.v1', 'a');

/**
 * A replay request as a service publishes it: the routing key is the event type, which routes it to that type's
 * publisher.
 */
function newRequestMessage(content: object, routingKey = type): ConsumeMessage {
  const fields = { exchange: names.replayRequests, routingKey };
  return { content: Buffer.from(JSON.stringify(content)), fields } as ConsumeMessage;
}

test('a replay request contains the service that receives the replay, and the event type of its routing key', () => {
  const request = { id, service: 'payment-history', type };
  expect(parseReplayRequest(newRequestMessage(request), names)).toEqual(request);
});

// For an invalid service name, the broker would reject the replay and close the channel on which the publisher sends
// events and replies.
test.each([
  ['an invalid service name', { id, service: 'payment.history', type }],
  ['a service name with wildcards of a routing key', { id, service: 'a.b.#', type }],
  ['an empty service name', { id, service: '', type }],
  ['a service name that is too long for a routing key', { id, service: 'a'.repeat(65), type }],
  ['a type that is not its routing key', { id, service: 'payment-history', type: 'session.created.v1' }],
  ['an id that is not a UUID', { id: 'a', service: 'payment-history', type }],
  ['a service name that is not text', { id, service: ['payment-history'], type }],
])('a replay request with %s is refused', (_, request) => {
  expect(() => parseReplayRequest(newRequestMessage(request), names)).toThrow('not a replay request');
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
    parseEvents(
      { content: Buffer.from(JSON.stringify(content)), fields, properties: { headers: {} } } as ConsumeMessage,
      'payment-history',
      names,
    );

  it('are read from a list of events, in the order of the list', () => {
    const others = [event, { ...event, aggregateVersion: 2 }];
    expect(read(others)).toEqual(others);
  });

  it.each<[string, unknown]>([
    ['an empty list', []],
    ['a list in a list', [[event]]],
    ['null', null],
    ['an event that is not in a list', event],
    ['null in a list', [event, null]],
    ['an event whose id is not a UUID', [{ ...event, id: 'a' }]],
    ['an event without a time', [{ ...event, occurredAt: undefined }]],
    ['an event whose version is text', [{ ...event, aggregateVersion: '1' }]],
    ['an event whose type is not text', [{ ...event, type: 1 }]],
    ['an event whose aggregate id is not text', [{ ...event, aggregateId: 1 }]],
  ])('cannot be read if the message is %s', (_, content) => {
    expect(() => read(content)).toThrow(/is not an event|has no events/);
  });

  it('are all refused if the routing key does not match the type of one event', () => {
    expect(() => read([event, { ...event, type: 'payment.failed.v1' }])).toThrow(
      'routing key of the message is not that of',
    );
    const replay = { exchange: names.replayedEvents, routingKey: names.replayedEventKey('payment-history', type) };
    expect(read([event, event], replay)).toEqual([event, event]);
    const replayToOtherService = {
      exchange: names.replayedEvents,
      routingKey: names.replayedEventKey('code-decoder', type),
    };
    expect(() => read([event], replayToOtherService)).toThrow('routing key of the message is not that of');
  });
});

// A service chooses the exchange and routing key for its dead letters, and the broker does not check them.
test.each([
  ['published', {}, type, true],
  [
    'sent by a dead-letter exchange',
    { 'x-death': [{}] },
    `Error: ${type} was dead-lettered here, not published.`,
    false,
  ],
])(
  'only a published message is accepted as an event or request: a message that was %s',
  (_, headers, typeOrErrorText, isRequest) => {
    const event = anEvent({ name: type }, 'a', 1, {});
    const message = (exchange: string, routingKey: string): ConsumeMessage =>
      ({ ...newRequestMessage([event]), fields: { exchange, routingKey }, properties: { headers } }) as ConsumeMessage;
    expect(typeOrError(() => parseEvents(message(names.events, type), 'payment-history', names)[0]!.type)).toBe(
      typeOrErrorText,
    );
    expect(isSentTo(KEY, message(names.commands, KEY), names)).toBe(isRequest);
  },
);

function typeOrError(read: () => string): string {
  try {
    return read();
  } catch (error) {
    return String(error);
  }
}

test.each([
  ['the exchange of commands with this routing key', 'svc.commands', KEY, true],
  [
    'the exchange of commands with the key of another replica',
    'svc.commands',
    names.commandKey('charge.v1', 'b'),
    false,
  ],
  ['the exchange of commands with the key of all replicas', 'svc.commands', names.commandKey('charge.v1'), false],
  ['the exchange of commands with another command', 'svc.commands', names.commandKey('refund.v1', 'a'), false],
  ['the default exchange with the queue as routing key', '', names.commandQueue('charge.v1', 'a'), false],
  ['another exchange with this routing key', 'svc.events', KEY, false],
])('isSentTo of a message to %s (%j, %j) is %j', (_, exchange, routingKey, isRequest) => {
  const fields = { exchange, routingKey };
  expect(isSentTo(KEY, { fields, properties: {} } as ConsumeMessage, names)).toBe(isRequest);
});

test.each([
  [
    'the exchange of replayed events with the service and type as routing key',
    'replayed-events',
    'payment-history.payment.succeeded.v1',
    true,
  ],
  [
    'the default exchange with the queue of the service as routing key',
    '',
    names.replayedEventQueue('payment-history'),
    false,
  ],
  [
    'the exchange of replayed events with the queue as routing key',
    'replayed-events',
    names.replayedEventQueue('payment-history'),
    false,
  ],
  [
    'the exchange of events with the service and type as routing key',
    'events',
    'payment-history.payment.succeeded.v1',
    false,
  ],
  [
    'the exchange of events with the queue as routing key',
    'events',
    names.replayedEventQueue('payment-history'),
    false,
  ],
])('the message about the end of a replay to %s (%j, %j) is accepted: %j', (_, exchange, routingKey, isAccepted) => {
  const served = anEvent(ReplayServedV1, id, 1, { type });
  const fields = { exchange: exchange === '' ? '' : `svc.${exchange}`, routingKey };
  const message = { ...newRequestMessage([served]), fields, properties: { headers: {} } } as ConsumeMessage;
  const typeOrErrorText = typeOrError(() => parseEvents(message, 'payment-history', names)[0]!.type);
  const errorText = `Error: The routing key of the message is not that of ${ReplayServedV1.name}.`;
  expect(typeOrErrorText).toBe(isAccepted ? ReplayServedV1.name : errorText);
});

test.each([
  [
    'the headers of the broker',
    { messageId: 'a', type, headers: { 'x-first-death-reason': 'rejected', 'x-death': [{ time: { value: 60 } }] } },
    { messageId: 'a', type, reason: 'rejected', deadLetteredAt: new Date(60_000) },
  ],
  ['no properties', {}, { messageId: null, type: null, reason: null, deadLetteredAt: null }],
  [
    'properties that are too long or have the wrong type',
    { messageId: 'a'.repeat(101), type: 1, headers: { 'x-death': [{ time: 60 }] } },
    { messageId: 'a'.repeat(100), type: null, reason: null, deadLetteredAt: null },
  ],
  [
    'a header x-death that is not a list',
    { headers: { 'x-death': 'now' } },
    { messageId: null, type: null, reason: null, deadLetteredAt: null },
  ],
])('toDeadLetter returns the readable properties of a dead letter with %s', (_, properties, expected) => {
  expect(toDeadLetter({ properties } as unknown as GetMessage)).toEqual(expected);
});
