import type { ConsumeMessage, GetMessage } from 'amqplib';
import { type AnyPaymentSnapshot, type EventEnvelope } from '@svc/contracts';
import { isUuid } from '@svc/kernel';
import type { BrokerDeadLetter, ReplayRequest } from './broker.js';
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
  if (!isGranted) throw new Error(`The message says ${event.type.slice(0, 100)}, its routing key does not.`);
  return event;
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

/** Throws when the message is no event. */
export function asEnvelope({ content }: Pick<ConsumeMessage, 'content'>): EventEnvelope {
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

export function asReplayRequest({ content }: ConsumeMessage): ReplayRequest {
  const request = JSON.parse(content.toString()) as Partial<ReplayRequest> | null;
  const { id, service, type } = request ?? {};
  if (!isUuid(id) || typeof service !== 'string' || typeof type !== 'string')
    throw new Error('The message is no request for the past.');
  return { id, service, type };
}
