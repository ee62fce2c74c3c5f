import type { EventEnvelope } from '@svc/contracts';
import { isUuid } from '@svc/kernel';
import type { ConsumeMessage, GetMessage } from 'amqplib';
import type { BrokerDeadLetter, ReplayRequest } from '../broker/broker.js';
import { ReplayServedV1 } from '../consumer/subscribed-types.js';
import type { RabbitMqNames } from '../routing/rabbitmq-names.js';

/**
 * The events in a message. Throws if the type of an event does not match the routing key, because the broker checks
 * only the routing key: a service may publish only with the routing keys of its own event types.
 */
export function parseEvents(message: ConsumeMessage, service: string, names: RabbitMqNames): EventEnvelope[] {
  const events = parseEnvelopes(message);
  if (isDeadLettered(message))
    throw new Error(`${events[0]!.type.slice(0, 100)} was dead-lettered here, not published.`);
  for (const event of events) assertAuthorised(event, message, service, names);
  return events;
}

function assertAuthorised(event: EventEnvelope, message: ConsumeMessage, service: string, names: RabbitMqNames): void {
  const { exchange, routingKey } = message.fields;
  const isAuthorised =
    (exchange === names.events && names.typeOf(routingKey) === event.type) ||
    (exchange === names.replayedEvents && routingKey === names.replayedEventKey(service, replayedType(event)));
  if (!isAuthorised) throw new Error(`The routing key of the message is not that of ${event.type.slice(0, 100)}.`);
}

/** The type of a message to the replicas that answer a command. A requester finds them with it. */
export const PING = 'ping';
/** Maximum number of requests in one ping. */
export const MAX_PINGED_REQUESTS = 100;

/** The content of a ping. */
export interface Ping {
  /** Ids of the requests that this requester has sent to this replica some time ago. */
  readonly waitingFor: readonly string[];
}

/** The answer to a ping. */
export interface Pong {
  readonly replica: string;
  /** True if the replica takes no more requests, because it stops. */
  readonly isClosing: boolean;
  /** Those ids of the ping that the replica does not handle: the request or its reply was lost. */
  readonly unknown: readonly string[];
}

/** Types of the messages to a requester. `notTaken`: the replica stops and has not handled the request. */
export const REPLY_TYPES = { reply: 'reply', pong: 'pong', notTaken: 'not-taken' } as const;

export function toJson(value: unknown): Buffer {
  return Buffer.from(value === undefined ? '' : JSON.stringify(value));
}

export function fromJson(content: Buffer): unknown {
  return content.length === 0 ? undefined : (JSON.parse(content.toString()) as unknown);
}

/**
 * Whether the broker authorised the sender for this routing key of a command. The queue of the message does not prove
 * the authorisation: the `CC` header can route a message to further queues, and RabbitMQ before 3.13 checks only the
 * first routing key.
 */
export function isSentTo(key: string, message: ConsumeMessage, names: RabbitMqNames): boolean {
  const { exchange, routingKey } = message.fields;
  return exchange === names.commands && routingKey === key && !isDeadLettered(message);
}

/**
 * Whether the message came through a dead-letter exchange. Its routing key then proves nothing, because a service
 * chooses the exchange and the key in its own queue declarations, and the broker does not check them. The broker always
 * adds the header `x-death` to such a message.
 */
function isDeadLettered({ properties }: ConsumeMessage): boolean {
  return properties.headers?.['x-death'] !== undefined;
}

/** The type whose replay contains the event. */
export function replayedType({ type, payload }: EventEnvelope): string {
  return type === ReplayServedV1.name ? String((payload as { type?: unknown } | null)?.type) : type;
}

/** The events in a message: a list of at least one event. Throws for any other content. */
export function parseEnvelopes({ content }: Pick<ConsumeMessage, 'content'>): EventEnvelope[] {
  const parsed: unknown = JSON.parse(content.toString());
  if (!Array.isArray(parsed) || parsed.length === 0) throw new Error('The message has no events.');
  return parsed.map(parseEnvelope);
}

function parseEnvelope(parsed: unknown): EventEnvelope {
  const event = parsed as Partial<EventEnvelope> | null;
  const { id, type, aggregateId, aggregateVersion, occurredAt } = event ?? {};
  const isValid =
    isUuid(id) &&
    typeof type === 'string' &&
    typeof aggregateId === 'string' &&
    Number.isSafeInteger(aggregateVersion) &&
    !Number.isNaN(Date.parse(String(occurredAt)));
  if (!isValid) throw new Error('The message is not an event.');
  return event as EventEnvelope;
}

/** The dead letter as administrators see it: without the payload, which can be large and contain personal data. */
export function toDeadLetter({ properties }: GetMessage): BrokerDeadLetter {
  const headers = (properties.headers ?? {}) as Record<string, unknown>;
  const [death] = (Array.isArray(headers['x-death']) ? headers['x-death'] : []) as { time?: { value?: unknown } }[];
  // AMQP's timestamps are in seconds.
  const seconds = Number(death?.time?.value);
  return {
    messageId: toShortText(properties.messageId),
    type: toShortText(properties.type),
    reason: toShortText(headers['x-first-death-reason']),
    deadLetteredAt: Number.isSafeInteger(seconds) ? new Date(seconds * 1_000) : null,
  };
}

function toShortText(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, 100) : null;
}

/**
 * Throws if the service name is invalid or the type differs from the routing key. Otherwise the broker would reject
 * each attempt to send the replay, and close the channel on which events and replies are sent.
 */
export function parseReplayRequest({ content, fields }: ConsumeMessage, names: RabbitMqNames): ReplayRequest {
  const request = JSON.parse(content.toString()) as Partial<ReplayRequest> | null;
  const { id, service, type } = request ?? {};
  if (!isUuid(id) || typeof service !== 'string' || !names.isServiceName(service) || type !== fields.routingKey)
    throw new Error('The message is not a replay request.');
  return { id, service, type };
}
