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

/** No queue is bound for these: nobody would ever have seen them. Nothing is lost, the log still has them. */
export class Unroutable extends Error {
  override readonly name = 'Unroutable';

  constructor(readonly routingKeys: readonly string[]) {
    super(`Nobody is bound to ${routingKeys.join(', ')}.`);
  }
}

export class BrokerAway extends Error {
  override readonly name = 'BrokerAway';
}

/** How long a batch waits for a connection before whoever publishes is told to come again. */
const CONNECTION_WAIT_MS = 1_000;
const CONFIRM_MS_MAX = 10_000;

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
  ) {}

  async setUp(model: ChannelModel): Promise<void> {
    const channel = await this.connection.confirmChannel(model);
    await this.topology.declareExchanges(channel);
    this.returned.clear();
    // Comes before the confirmation of the same message.
    channel.on('return', (message) => this.returned.add(String(message.properties.messageId)));
    this.channel = channel;
  }

  /** Throws {@link Unroutable} when a message had nowhere to go, after all others are confirmed. */
  async publish(messages: readonly Outgoing[]): Promise<void> {
    const channel = await this.usableChannel();
    const unroutable = new Set<string>();
    let confirmed = 0;
    const outcomes = Promise.allSettled(
      messages.map(
        ({ exchange, routingKey, content, properties }) =>
          new Promise<void>((resolve, reject) => {
            const settled = (error: Error | null): void => {
              if (error) return reject(error);
              if (this.returned.delete(properties.messageId)) unroutable.add(routingKey);
              confirmed++;
              resolve();
            };
            channel.publish(exchange, routingKey, content, { ...properties, mandatory: true }, settled);
          }),
      ),
    );
    const settled = await withDeadline(outcomes, CONFIRM_MS_MAX, () => {
      const error = new BrokerAway(`${messages.length - confirmed} messages were not confirmed in time.`);
      // A blocked connection is kept: the broker would let a new one send a batch more before it says no again.
      if (this.connection.blockedBecause === undefined) this.connection.drop(error);
      return error;
    });
    const refused = settled.filter((outcome) => outcome.status === 'rejected');
    if (refused.length > 0)
      throw new BrokerAway(`${refused.length} of ${messages.length} messages were not confirmed.`, {
        cause: refused[0]!.reason,
      });
    if (unroutable.size > 0) throw new Unroutable([...unroutable]);
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

/** An event on the wire: the envelope as JSON, and as properties what tools and traces look for. */
export function eventMessage(exchange: string, routingKey: string, event: EventEnvelope): Outgoing {
  return {
    exchange,
    routingKey,
    content: Buffer.from(JSON.stringify(event)),
    properties: {
      persistent: true,
      contentType: 'application/json',
      messageId: event.id,
      type: event.type,
      timestamp: Math.floor(Date.parse(event.occurredAt) / 1000),
      ...(event.traceparent === undefined ? {} : { headers: { traceparent: event.traceparent } }),
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
