import type { EventEnvelope } from '@svc/contracts';
import { isUuid } from '@svc/kernel';
import type { ConsumeMessage, GetMessage } from 'amqplib';
import type { BrokerDeadLetter, ReplayRequest } from '../broker/broker.js';
import { ReplayServedV1 } from '../consumer/subscribed-types.js';
import type { RabbitMqNames } from '../routing/rabbitmq-names.js';

/**
 * The events of a message. Throws if their type is not the routing key: the broker grants a key only to the publisher of the
 * type, and cannot read the message. Replays of releases before ADR 26 come through the default exchange; no service's user may
 * publish there.
 */
export function asEvents(message: ConsumeMessage, service: string, names: RabbitMqNames): EventEnvelope[] {
  const events = asEnvelopes(message);
  if (isDeadLettered(message))
    throw new Error(`${events[0]!.type.slice(0, 100)} was dead-lettered here, not published.`);
  for (const event of events) checkGranted(event, message, service, names);
  return events;
}

function checkGranted(event: EventEnvelope, message: ConsumeMessage, service: string, names: RabbitMqNames): void {
  const { exchange, routingKey } = message.fields;
  const isGranted =
    (exchange === names.events && names.typeOf(routingKey) === event.type) ||
    (exchange === names.past && routingKey === names.pastKey(service, replayedType(event))) ||
    (exchange === '' && routingKey === names.pastQueue(service));
  if (!isGranted) throw new Error(`The routing key of the message is not that of ${event.type.slice(0, 100)}.`);
}

/**
 * Whether the broker authorised this command: `CC` adds queues to a message, and RabbitMQ before 3.13 checks only the first
 * routing key. Requests of releases before ADR 26 come through the default exchange.
 */
export function isRequestOf(command: string, message: ConsumeMessage, names: RabbitMqNames): boolean {
  const { exchange, routingKey } = message.fields;
  const isGranted =
    (exchange === names.commands && routingKey === command) ||
    (exchange === '' && routingKey === names.commandQueue(command));
  return isGranted && !isDeadLettered(message);
}

/**
 * Whether a dead-letter exchange routed the message. The broker checks routing keys when a message is published, but not when
 * it is dead-lettered, and a service chooses exchange and key in its own queue declarations. The broker always adds this header.
 */
function isDeadLettered({ properties }: ConsumeMessage): boolean {
  return properties.headers?.['x-death'] !== undefined;
}

/** The type whose replay contains the event. */
export function replayedType({ type, payload }: EventEnvelope): string {
  return type === ReplayServedV1.name ? String((payload as { type?: unknown } | null)?.type) : type;
}

/** A message is an event, or a list of at least one. Throws for anything else. */
export function asEnvelopes({ content }: Pick<ConsumeMessage, 'content'>): EventEnvelope[] {
  const said: unknown = JSON.parse(content.toString());
  const events = Array.isArray(said) ? said.map(asEnvelope) : [asEnvelope(said)];
  if (events.length === 0) throw new Error('The message has no events.');
  return events;
}

function asEnvelope(said: unknown): EventEnvelope {
  const event = said as Partial<EventEnvelope> | null;
  const { id, type, aggregateId, aggregateVersion, occurredAt } = event ?? {};
  const valid =
    isUuid(id) &&
    typeof type === 'string' &&
    typeof aggregateId === 'string' &&
    Number.isSafeInteger(aggregateVersion) &&
    !Number.isNaN(Date.parse(String(occurredAt)));
  if (!valid) throw new Error('The message is not an event.');
  return event as EventEnvelope;
}

/** For administrators: without the payload, which can be large and contain personal data. */
export function asDeadLetter({ properties }: GetMessage): BrokerDeadLetter {
  const headers = (properties.headers ?? {}) as Record<string, unknown>;
  const [death] = (Array.isArray(headers['x-death']) ? headers['x-death'] : []) as { time?: { value?: unknown } }[];
  // Seconds, as AMQP has them.
  const seconds = Number(death?.time?.value);
  return {
    messageId: asText(properties.messageId),
    type: asText(properties.type),
    reason: asText(headers['x-first-death-reason']),
    deadLetteredAt: Number.isSafeInteger(seconds) ? new Date(seconds * 1_000) : null,
  };
}

function asText(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, 100) : null;
}

/**
 * Throws if the service name is invalid or the type differs from the routing key: otherwise the broker would reject the replay
 * and close the channel for events and replies, at each attempt.
 */
export function asReplayRequest({ content, fields }: ConsumeMessage, names: RabbitMqNames): ReplayRequest {
  const request = JSON.parse(content.toString()) as Partial<ReplayRequest> | null;
  const { id, service, type } = request ?? {};
  if (!isUuid(id) || typeof service !== 'string' || !names.isServiceName(service) || type !== fields.routingKey)
    throw new Error('The message is not a replay request.');
  return { id, service, type };
}
