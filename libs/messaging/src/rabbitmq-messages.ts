import type { ConsumeMessage } from 'amqplib';
import { type AnyPaymentSnapshot, type EventEnvelope } from '@svc/contracts';
import { isUuid } from '@svc/kernel';
import type { ReplayRequest } from './broker.js';
import type { EventOrigin, RabbitMqNames } from './rabbitmq-names.js';
import { ReplayServedV1 } from './subscribed-types.js';

/**
 * The event of a message. Throws where its routing key is another type's: the broker grants the key to the owner of the
 * type, and knows nothing of what the message says. Through the default exchange come replays of releases before ADR 26;
 * no service's user may publish there.
 */
export function asEvent(message: ConsumeMessage, service: string, names: RabbitMqNames): EventEnvelope {
  const event = asEnvelope(message);
  const { exchange, routingKey } = message.fields;
  const isGranted =
    (exchange === names.events && names.typeOf(routingKey) === event.type) ||
    (exchange === names.past && routingKey === names.pastKey(service, replayedType(event))) ||
    (exchange === '' && routingKey === names.pastQueue(service));
  if (isDeadLettered(message)) throw new Error(`${event.type.slice(0, 100)} was dead-lettered here, not published.`);
  if (!isGranted) throw new Error(`The message says ${event.type.slice(0, 100)}, its routing key does not.`);
  return event;
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

/** Of a payment: what is paid, and who pays. */
export function originOf(payload: unknown): EventOrigin | undefined {
  const { source, partner, paymentReference } = (payload ?? {}) as Partial<AnyPaymentSnapshot>;
  if (typeof source?.kind !== 'string' || paymentReference === undefined) return undefined;
  return { source: source.kind, payer: partner ? 'partner' : 'page' };
}

function asEnvelope({ content }: ConsumeMessage): EventEnvelope {
  const event = JSON.parse(content.toString()) as Partial<EventEnvelope> | null;
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
