import { randomUUID } from 'node:crypto';
import type { EventEnvelope } from '@svc/contracts';
import { withDeadline } from '@svc/kernel';
import type { ChannelModel, ConfirmChannel, Options } from 'amqplib';
import { ConsumerRefusedError, type ReplayRequest } from '../broker/broker.js';
import { PROBE } from '../routing/rabbitmq-names.js';
import type { RabbitMqConnection } from './rabbitmq-connection.js';
import type { Topology } from './rabbitmq-topology.js';

export interface OutgoingMessage {
  readonly exchange: string;
  readonly routingKey: string;
  readonly content: Buffer;
  /** A returned message is recognised by its id. */
  readonly properties: Options.Publish & { readonly messageId: string };
}

/**
 * Result of publishing a message. `confirmed`: every queue to which the message was routed has stored it. `refused`: at
 * least one of these queues rejected it. `unroutable`: the message was routed to no queue.
 */
type PublishOutcome = 'confirmed' | 'refused' | 'unroutable';

export class BrokerUnavailableError extends Error {
  override readonly name = 'BrokerUnavailableError';
}

/** How long a batch waits for a connection before the publish fails. */
const CONNECTION_WAIT_MS = 1_000;
const CONFIRM_TIMEOUT_MS = 10_000;
/** The text of amqplib's error when a queue rejects a message, for example because the queue is full. */
export const NACKED = 'message nacked';

/**
 * Publishes batches and waits until every queue that a message was routed to has stored it. The callers limit the
 * number of unconfirmed messages: a relay has a few batches in flight.
 */
export class RabbitMqPublisher {
  private channel: ConfirmChannel | undefined;
  /** Ids of messages that the broker returned as unroutable and has not confirmed yet. */
  private readonly returned = new Set<string>();

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly topology: Topology,
    /** The user of the connection. The broker rejects messages with any other user id, so a consumer can rely on it. */
    private readonly userId: string,
    /** Called when the broker has refused a message, before the next message is published. */
    private readonly onRefused: () => void = () => undefined,
  ) {}

  async setUp(model: ChannelModel): Promise<void> {
    await this.topology.declareExchanges(model);
    await this.openChannel(model);
  }

  /** Other channels of the connection do not notice that the broker refuses a message on this channel. */
  private async openChannel(model: ChannelModel): Promise<void> {
    const channel = await this.connection.confirmChannel(model, () => {
      this.onRefused();
      this.channel = undefined;
      this.openChannel(model).catch((error: unknown) => this.connection.drop(error));
    });
    this.returned.clear();
    // The broker sends the return of a message before its confirmation.
    channel.on('return', (message) => this.returned.add(String(message.properties.messageId)));
    this.channel = channel;
  }

  /**
   * Returns the outcome of each message, in the order of the messages. Throws {@link BrokerUnavailableError} when the
   * broker does not confirm in time.
   */
  async publish(messages: readonly OutgoingMessage[]): Promise<PublishOutcome[]> {
    const channel = await this.usableChannel();
    let settled = 0;
    const outcomes = Promise.all(messages.map((message) => this.send(channel, message).finally(() => settled++)));
    return withDeadline(outcomes, CONFIRM_TIMEOUT_MS, () => {
      const error = new BrokerUnavailableError(`${messages.length - settled} messages were not confirmed in time.`);
      // A blocked connection is not replaced, because the broker would accept one more batch on a new connection before
      // it also blocks the new connection.
      if (this.connection.blockedBecause === undefined) this.connection.leaveNode(error);
      throw error;
    });
  }

  private send(channel: ConfirmChannel, message: OutgoingMessage): Promise<PublishOutcome> {
    const { exchange, routingKey, content, properties } = message;
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null): void => {
        const isReturned = this.returned.delete(properties.messageId);
        if (!error) resolve(isReturned ? 'unroutable' : 'confirmed');
        // Any other error means that the channel was lost. The outcome is then unknown.
        else if (error.message === NACKED) resolve('refused');
        else reject(new BrokerUnavailableError('A message was not confirmed.', { cause: error }));
      };
      channel.publish(exchange, routingKey, content, { ...properties, userId: this.userId, mandatory: true }, settle);
    });
  }

  private async usableChannel(): Promise<ConfirmChannel> {
    if (!(await this.connection.isUsableWithin(CONNECTION_WAIT_MS)) || !this.channel)
      throw new BrokerUnavailableError('There is no connection to the broker.');
    const { blockedBecause } = this.connection;
    if (blockedBecause !== undefined)
      throw new BrokerUnavailableError(`The broker accepts no messages now: ${blockedBecause}`);
    return this.channel;
  }

  /** The connection that publishes, for channels that may be closed by the broker. */
  async usableModel(): Promise<ChannelModel> {
    await this.usableChannel();
    const { current } = this.connection;
    if (!current) throw new BrokerUnavailableError('There is no connection to the broker.');
    return current;
  }
}

export type EventRoute = Pick<OutgoingMessage, 'exchange' | 'routingKey'>;

/**
 * Maximum length of a message with several events, in characters. The length is limited, because a consumer holds 50
 * messages in memory. A larger event is sent in a message with no other event.
 */
const MAX_SHARED_MESSAGE_LENGTH = 64 * 1024;

/**
 * Converts events to messages, each with a JSON list of events. Up to `eventsPerMessage` events with the same route and type share a
 * message, in the order of the events, because the broker's load depends on the number of messages.
 */
export function eventMessages(
  events: readonly EventEnvelope[],
  routeOf: (event: EventEnvelope) => EventRoute,
  eventsPerMessage: number,
): OutgoingMessage[] {
  const shared: SharedMessage[] = [];
  const openMessages = new Map<string, SharedMessage>();
  for (const event of events) {
    const route = routeOf(event);
    const key = `${route.routingKey} ${event.type}`;
    const text = JSON.stringify(event);
    const message = openMessages.get(key);
    if (
      message &&
      message.texts.length < eventsPerMessage &&
      message.length + text.length <= MAX_SHARED_MESSAGE_LENGTH
    ) {
      message.texts.push(text);
      message.length += text.length;
    } else {
      const next = { route, first: event, texts: [text], length: text.length };
      shared.push(next);
      openMessages.set(key, next);
    }
  }
  return shared.map(toOutgoing);
}

interface SharedMessage {
  readonly route: EventRoute;
  readonly first: EventEnvelope;
  readonly texts: string[];
  length: number;
}

/**
 * The properties are for administration tools. Consumers read only the content, in which each event contains its trace.
 */
function toOutgoing({ route, first, texts }: SharedMessage): OutgoingMessage {
  return {
    ...route,
    content: Buffer.from(`[${texts.join()}]`),
    properties: {
      persistent: true,
      contentType: 'application/json',
      messageId: first.id,
      type: first.type,
      timestamp: Math.floor(Date.parse(first.occurredAt) / 1000),
      ...(texts.length > 1 || first.traceparent === undefined ? {} : { headers: { traceparent: first.traceparent } }),
    },
  };
}

/** An event without effect, which consumers skip: see {@link PROBE}. */
export function newProbe(): EventEnvelope {
  const id = randomUUID();
  const occurredAt = new Date(0).toISOString();
  return { id, type: PROBE, aggregateId: id, aggregateVersion: 1, occurredAt, payload: {} };
}

export function replayRequestMessage(exchange: string, request: ReplayRequest): OutgoingMessage {
  return {
    exchange,
    routingKey: request.type,
    content: Buffer.from(JSON.stringify(request)),
    properties: { persistent: true, contentType: 'application/json', messageId: request.id, type: 'replay-request' },
  };
}

export function throwIfRefused(outcomes: readonly PublishOutcome[]): void {
  const refused = outcomes.filter((outcome) => outcome === 'refused').length;
  if (refused > 0) throw new ConsumerRefusedError(`A queue refused ${refused} of ${outcomes.length} messages.`);
}
