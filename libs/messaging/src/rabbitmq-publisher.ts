import type { ChannelModel, ConfirmChannel, Options } from 'amqplib';
import type { EventEnvelope } from '@svc/contracts';
import type { RabbitMqConnection } from './rabbitmq-connection.js';
import type { Topology } from './rabbitmq-topology.js';

export interface Outgoing {
  /** `''` is the default exchange, whose routing key is the name of a queue. */
  readonly exchange: string;
  readonly routingKey: string;
  readonly content: Buffer;
  readonly properties: Options.Publish;
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
 * Publishes batches and waits until each message is safe with every queue it was routed to. One batch at a time, so
 * that what is outstanding is bounded by a batch; the next waits in the log of whoever publishes it.
 */
export class RabbitMqPublisher {
  private channel: ConfirmChannel | undefined;
  private returned: string[] = [];
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly topology: Topology,
  ) {}

  async setUp(model: ChannelModel): Promise<void> {
    const channel = await this.connection.confirmChannel(model);
    await this.topology.declareExchanges(channel);
    // Comes before the confirmation of the same message.
    channel.on('return', (message) => this.returned.push(message.fields.routingKey));
    this.channel = channel;
  }

  /** Throws {@link Unroutable} when a message had nowhere to go, after all others are confirmed. */
  publish(messages: readonly Outgoing[]): Promise<void> {
    const published = this.turn.then(() => this.publishNow(messages));
    this.turn = published.catch(() => undefined);
    return published;
  }

  private async publishNow(messages: readonly Outgoing[]): Promise<void> {
    const channel = await this.usableChannel();
    this.returned = [];
    let confirmed = 0;
    const outcomes = Promise.allSettled(
      messages.map(
        ({ exchange, routingKey, content, properties }) =>
          new Promise<void>((resolve, reject) => {
            const settled = (error: Error | null): void => (error ? reject(error) : (confirmed++, resolve()));
            channel.publish(exchange, routingKey, content, { ...properties, mandatory: true }, settled);
          }),
      ),
    );
    const settled = await withDeadline(outcomes, CONFIRM_MS_MAX, () => {
      const error = new BrokerAway(`${messages.length - confirmed} messages were not confirmed in time.`);
      // A late answer must not be taken for one to the next batch. A blocked connection is kept: the broker would
      // let a new one send a batch more before it says no again.
      if (this.connection.blockedBecause === undefined) this.connection.drop(error);
      return error;
    });
    const refused = settled.filter((outcome) => outcome.status === 'rejected');
    if (refused.length > 0)
      throw new BrokerAway(`${refused.length} of ${messages.length} messages were not confirmed.`, {
        cause: refused[0]!.reason,
      });
    if (this.returned.length > 0) throw new Unroutable([...new Set(this.returned)]);
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
