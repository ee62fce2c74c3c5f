import type { ChannelModel, ConfirmChannel, Options } from 'amqplib';
import type { EventEnvelope } from '@svc/contracts';
import type { RabbitMqConnection } from './rabbitmq-connection.js';
import type { Topology } from './rabbitmq-topology.js';

export interface Outgoing {
  /** `''` is the default exchange, whose routing key is the name of a queue. */
  readonly exchange: string;
  readonly routingKey: string;
  readonly content: Buffer;
  /** The id tells which message of those under way came back. */
  readonly properties: Options.Publish & { readonly messageId: string };
}

/** What became of a message: each queue it was routed to took it; one of them refused it; there was no such queue. */
export type PublishOutcome = 'confirmed' | 'refused' | 'unroutable';

export class BrokerAway extends Error {
  override readonly name = 'BrokerAway';
}

/** How long a batch waits for a connection before whoever publishes is told to come again. */
const CONNECTION_WAIT_MS = 1_000;
const CONFIRM_MS_MAX = 10_000;
/** The text of amqplib's error when a queue refuses a message, as a full one does. */
const NACKED = 'message nacked';

/**
 * Publishes batches and waits until each message is safe with every queue it was routed to. What is outstanding is
 * bounded by those who publish: a relay has a few batches under way, the rest waits in its log.
 */
export class RabbitMqPublisher {
  private channel: ConfirmChannel | undefined;
  /** Ids of messages that had nowhere to go and are not confirmed yet. */
  private readonly returned = new Set<string>();

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly topology: Topology,
    /** The user of the connection: the broker refuses another, so a reader knows who sent a message. */
    private readonly userId: string,
  ) {}

  async setUp(model: ChannelModel): Promise<void> {
    await this.topology.declareExchanges(model);
    const channel = await this.connection.confirmChannel(model);
    this.returned.clear();
    // Comes before the confirmation of the same message.
    channel.on('return', (message) => this.returned.add(String(message.properties.messageId)));
    this.channel = channel;
  }

  /** Returns what became of each message, in their order. Throws {@link BrokerAway} when the broker does not say. */
  async publish(messages: readonly Outgoing[]): Promise<PublishOutcome[]> {
    const channel = await this.usableChannel();
    let settled = 0;
    const outcomes = Promise.all(messages.map((message) => this.send(channel, message).finally(() => settled++)));
    return withDeadline(outcomes, CONFIRM_MS_MAX, () => {
      const error = new BrokerAway(`${messages.length - settled} messages were not confirmed in time.`);
      // A blocked connection is kept: the broker would let a new one send a batch more before it says no again.
      if (this.connection.blockedBecause === undefined) this.connection.drop(error);
      return error;
    });
  }

  private send(channel: ConfirmChannel, message: Outgoing): Promise<PublishOutcome> {
    const { exchange, routingKey, content, properties } = message;
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null): void => {
        const isReturned = this.returned.delete(properties.messageId);
        if (!error) resolve(isReturned ? 'unroutable' : 'confirmed');
        // A channel that is lost refuses nothing; it just does not know.
        else if (error.message === NACKED) resolve('refused');
        else reject(new BrokerAway('A message was not confirmed.', { cause: error }));
      };
      channel.publish(exchange, routingKey, content, { ...properties, userId: this.userId, mandatory: true }, settle);
    });
  }

  /** A channel to declare and bind with, on the connection that publishes. */
  async usableChannel(): Promise<ConfirmChannel> {
    if (!(await this.connection.isUsableWithin(CONNECTION_WAIT_MS)) || !this.channel)
      throw new BrokerAway('There is no connection to the broker.');
    const { blockedBecause } = this.connection;
    if (blockedBecause !== undefined) throw new BrokerAway(`The broker takes no messages now: ${blockedBecause}`);
    return this.channel;
  }
}

/** Where an event goes. `alsoAs` is a second routing key: a queue that is bound to both gets the message once. */
export interface EventRoute {
  readonly exchange: string;
  readonly routingKey: string;
  readonly alsoAs?: string;
}

/** Most characters that are put into one message with others: a reader holds 50 messages. An event of more goes alone. */
const SHARED_MESSAGE_LENGTH_MAX = 64 * 1024;

/**
 * Events on the wire, as JSON: those of one route that are handed over together share a message, up to `perMessage` of them,
 * in their order. The broker's work is for each message, whatever it holds.
 */
export function eventMessages(
  events: readonly EventEnvelope[],
  routeOf: (event: EventEnvelope) => EventRoute,
  perMessage: number,
): Outgoing[] {
  const shared: SharedMessage[] = [];
  const open = new Map<string, SharedMessage>();
  for (const event of events) {
    const route = routeOf(event);
    const key = `${route.routingKey} ${route.alsoAs} ${event.type}`;
    const text = JSON.stringify(event);
    const message = open.get(key);
    if (message && message.texts.length < perMessage && message.length + text.length <= SHARED_MESSAGE_LENGTH_MAX) {
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

/** With properties for tools. The trace of each event is in the event. */
function asOutgoing({ route, first, texts }: SharedMessage): Outgoing {
  const { exchange, routingKey, alsoAs } = route;
  return {
    exchange,
    routingKey,
    // One alone as releases before read it.
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
