import type { ConsumeMessage, GetMessage } from 'amqplib';
import type { EventEnvelope } from '@svc/contracts';
import { isUuid } from '@svc/kernel';
import type { BrokerDeadLetter, ReplayRequest } from '../broker/broker.js';
import type { RabbitMqNames } from '../routing/rabbitmq-names.js';
import { ReplayServedV1 } from '../consumer/subscribed-types.js';

/**
 * The events of a message. Throws where the routing key is not that of their type: the broker grants the key to the owner
 * of the type, and knows nothing of what the message says. Through the default exchange come replays of releases before
 * ADR 26; no service's user may publish there.
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
  if (!isGranted) throw new Error(`The message says ${event.type.slice(0, 100)}, its routing key does not.`);
}

/**
 * Whether the broker was asked for this command: `CC` adds queues to a message, and RabbitMQ before 3.13 checks the first
 * routing key alone. Through the default exchange come requests of releases before ADR 26.
 */
export function isRequestOf(command: string, message: ConsumeMessage, names: RabbitMqNames): boolean {
  const { exchange, routingKey } = message.fields;
  const isGranted =
    (exchange === names.commands && routingKey === command) ||
    (exchange === '' && routingKey === names.commandQueue(command));
  return isGranted && !isDeadLettered(message);
}

/**
 * Whether a queue's dead-letter exchange sent the message. The broker checks routing keys when a message is published, not
 * then, and a service chooses exchange and key where it declares a queue of its own. The broker always adds this header.
 */
function isDeadLettered({ properties }: ConsumeMessage): boolean {
  return properties.headers?.['x-death'] !== undefined;
}

/** The type whose replay an event belongs to. */
export function replayedType({ type, payload }: EventEnvelope): string {
  return type === ReplayServedV1.name ? String((payload as { type?: unknown } | null)?.type) : type;
}

/** A message is an event, or a list of at least one. Throws when it is neither. */
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
  if (!valid) throw new Error('The message is no event.');
  return event as EventEnvelope;
}

/** For administrators: without what it carries, which can be large, and is other people's data. */
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
 * Throws where it names no service, or another type than its routing key: the broker would refuse the replay and close the
 * channel that publishes events and answers, each time it is tried.
 */
export function asReplayRequest({ content, fields }: ConsumeMessage, names: RabbitMqNames): ReplayRequest {
  const request = JSON.parse(content.toString()) as Partial<ReplayRequest> | null;
  const { id, service, type } = request ?? {};
  if (!isUuid(id) || typeof service !== 'string' || !names.isServiceName(service) || type !== fields.routingKey)
    throw new Error('The message is no request for the past.');
  return { id, service, type };
}
