import type { EventEnvelope } from '@svc/contracts';
import type { ChannelModel, ConfirmChannel, Options } from 'amqplib';
import type { RabbitMqConnection } from './rabbitmq-connection.js';
import type { Topology } from './rabbitmq-topology.js';

export interface OutgoingMessage {
  /** `''` is the default exchange, whose routing key is the name of a queue. */
  readonly exchange: string;
  readonly routingKey: string;
  readonly content: Buffer;
  /** A returned message is recognised by its id. */
  readonly properties: Options.Publish & { readonly messageId: string };
}

/** Result for a message: each queue it was routed to stored it; one of them rejected it; there was no such queue. */
export type PublishOutcome = 'confirmed' | 'refused' | 'unroutable';

export class BrokerUnavailableError extends Error {
  override readonly name = 'BrokerUnavailableError';
}

/** How long a batch waits for a connection before the publish fails. */
const CONNECTION_WAIT_MS = 1_000;
const CONFIRM_TIMEOUT_MS = 10_000;
/** The text of amqplib's error when a queue rejects a message, as a full one does. */
const NACKED = 'message nacked';

/**
 * Publishes batches and waits until every queue that a message was routed to has stored it. Publishers limit the outstanding
 * messages: a relay has a few batches under way, the rest waits in its log.
 */
export class RabbitMqPublisher {
  private channel: ConfirmChannel | undefined;
  /** Ids of messages that were unroutable and are not confirmed yet. */
  private readonly returned = new Set<string>();

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly topology: Topology,
    /** The user of the connection: the broker rejects any other, so a reader knows the sender of a message. */
    private readonly userId: string,
  ) {}

  async setUp(model: ChannelModel): Promise<void> {
    await this.topology.declareExchanges(model);
    const channel = await this.connection.confirmChannel(model);
    this.returned.clear();
    // The return comes before the confirmation of the same message.
    channel.on('return', (message) => this.returned.add(String(message.properties.messageId)));
    this.channel = channel;
  }

  /** Returns the outcome of each message, in their order. Throws {@link BrokerUnavailableError} when the broker does not confirm in time. */
  async publish(messages: readonly OutgoingMessage[]): Promise<PublishOutcome[]> {
    const channel = await this.usableChannel();
    let settled = 0;
    const outcomes = Promise.all(messages.map((message) => this.send(channel, message).finally(() => settled++)));
    return withDeadline(outcomes, CONFIRM_TIMEOUT_MS, () => {
      const error = new BrokerUnavailableError(`${messages.length - settled} messages were not confirmed in time.`);
      // A blocked connection is kept: the broker would accept one more batch from a new one before it blocks it too.
      if (this.connection.blockedBecause === undefined) this.connection.drop(error);
      return error;
    });
  }

  private send(channel: ConfirmChannel, message: OutgoingMessage): Promise<PublishOutcome> {
    const { exchange, routingKey, content, properties } = message;
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null): void => {
        const isReturned = this.returned.delete(properties.messageId);
        if (!error) resolve(isReturned ? 'unroutable' : 'confirmed');
        // A lost channel did not reject the message: the outcome is unknown.
        else if (error.message === NACKED) resolve('refused');
        else reject(new BrokerUnavailableError('A message was not confirmed.', { cause: error }));
      };
      channel.publish(exchange, routingKey, content, { ...properties, userId: this.userId, mandatory: true }, settle);
    });
  }

  /** A channel for declarations and bindings, on the connection that publishes. */
  async usableChannel(): Promise<ConfirmChannel> {
    if (!(await this.connection.isUsableWithin(CONNECTION_WAIT_MS)) || !this.channel)
      throw new BrokerUnavailableError('There is no connection to the broker.');
    const { blockedBecause } = this.connection;
    if (blockedBecause !== undefined)
      throw new BrokerUnavailableError(`The broker accepts no messages now: ${blockedBecause}`);
    return this.channel;
  }
}

/** The route of an event. `alsoAs` is a second routing key: a queue that is bound to both gets the message once. */
export interface EventRoute {
  readonly exchange: string;
  readonly routingKey: string;
  readonly alsoAs?: string;
}

/** Most characters of several events in one message: a reader holds 50 messages. A larger event has its own message. */
const MAX_SHARED_MESSAGE_LENGTH = 64 * 1024;

/**
 * Events on the wire, as JSON: events of one route that are published together share a message, up to `perMessage` of them, in
 * their order. The broker's work depends on the number of messages, not on their content.
 */
export function eventMessages(
  events: readonly EventEnvelope[],
  routeOf: (event: EventEnvelope) => EventRoute,
  perMessage: number,
): OutgoingMessage[] {
  const shared: SharedMessage[] = [];
  const open = new Map<string, SharedMessage>();
  for (const event of events) {
    const route = routeOf(event);
    const key = `${route.routingKey} ${route.alsoAs} ${event.type}`;
    const text = JSON.stringify(event);
    const message = open.get(key);
    if (message && message.texts.length < perMessage && message.length + text.length <= MAX_SHARED_MESSAGE_LENGTH) {
      message.texts.push(text);
      message.length += text.length;
    } else {
      const next = { route, first: event, texts: [text], length: text.length };
      shared.push(next);
      open.set(key, next);
    }
  }
  return shared.map(asOutgoing);
}

interface SharedMessage {
  readonly route: EventRoute;
  readonly first: EventEnvelope;
  readonly texts: string[];
  length: number;
}

/** With properties for tools. Each event contains its trace. */
function asOutgoing({ route, first, texts }: SharedMessage): OutgoingMessage {
  const { exchange, routingKey, alsoAs } = route;
  return {
    exchange,
    routingKey,
    // A single event has the format of earlier releases.
    content: Buffer.from(texts.length === 1 ? texts[0]! : `[${texts.join()}]`),
    properties: {
      persistent: true,
      contentType: 'application/json',
      messageId: first.id,
      type: first.type,
      timestamp: Math.floor(Date.parse(first.occurredAt) / 1000),
      ...(alsoAs === undefined || alsoAs === routingKey ? {} : { CC: [alsoAs] }),
      ...(texts.length > 1 || first.traceparent === undefined ? {} : { headers: { traceparent: first.traceparent } }),
    },
  };
}

export async function withDeadline<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), milliseconds);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
