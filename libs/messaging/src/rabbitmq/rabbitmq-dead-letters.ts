import { type EventEnvelope, SERVICE_MESSAGES } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type { Channel, GetMessage } from 'amqplib';
import type { BrokerDeadLetters, BrokerDeadLetterSummary, BrokerReplay } from '../broker/broker.js';
import type { MessagingLog } from '../log.js';
import { MAX_BROKER_DEAD_LETTERS, type RabbitMqNames } from '../routing/rabbitmq-names.js';
import { closeChannel, type RabbitMqConnection } from './rabbitmq-connection.js';
import { asDeadLetter, asEnvelopes, replayedType } from './rabbitmq-messages.js';

export interface DeadLetterReader {
  readonly service: string;
  /** Resolves when each event is committed or stored, as for a message of the service's own queue. */
  readonly handle: (events: readonly EventEnvelope[]) => Promise<void>;
}

/**
 * RabbitMQ holds back acknowledgements of a quorum queue beyond 32 in flight, and loses them when the channel is closed. With
 * fewer, a replay leaves behind no message that it has handled.
 */
const MAX_BATCH_SIZE = 25;
/** Messages that one replay takes: unusable ones stay unacknowledged meanwhile, so that it reads the next ones. */
const MAX_REPLAYED = 1_000;

/**
 * The queue of messages that RabbitMQ dead-lettered: unreadable ones, and those that ended their reader 20 times or waited out
 * an outage of its database longer than that. They never reached the consumer, so its table of dead letters has no row.
 *
 * A replay passes them to the consumer and acknowledges each after its commit: a process that dies half-way loses nothing, and
 * the inbox ignores duplicates. Any service may publish a message to this queue with any headers (ADR 26), so the sender is
 * checked: the broker rejects the name of another user.
 */
export class RabbitMqDeadLetters implements BrokerDeadLetters {
  private reader: DeadLetterReader | undefined;

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly names: RabbitMqNames,
    /** The RabbitMQ user of this service. */
    private readonly user: string,
    private readonly log: MessagingLog,
  ) {}

  readBy(reader: DeadLetterReader): void {
    this.reader = reader;
  }

  async count(): Promise<number> {
    if (!this.reader) return 0;
    const queue = this.names.deadLetterQueue(this.reader.service);
    return this.withChannel(async (channel) => (await channel.checkQueue(queue)).messageCount);
  }

  async summary(): Promise<BrokerDeadLetterSummary> {
    const countMax = MAX_BROKER_DEAD_LETTERS;
    if (!this.reader) return { count: 0, countMax, oldest: null };
    const queue = this.names.deadLetterQueue(this.reader.service);
    return this.withChannel(async (channel) => {
      const { messageCount } = await channel.checkQueue(queue);
      const message = await channel.get(queue);
      if (!message) return { count: messageCount, countMax, oldest: null };
      channel.nack(message);
      return { count: messageCount, countMax, oldest: asDeadLetter(message) };
    });
  }

  async replay(): Promise<BrokerReplay> {
    const { reader } = this;
    if (!reader) return { replayed: 0, refused: 0 };
    return this.withChannel(async (channel) => {
      const refused: GetMessage[] = [];
      let replayed = 0;
      while (replayed + refused.length < MAX_REPLAYED) {
        const batch = await take(channel, this.names.deadLetterQueue(reader.service));
        if (batch.length === 0) break;
        for (const message of batch) {
          if (!this.isUsable(message, reader.service)) {
            refused.push(message);
            continue;
          }
          await reader.handle(asEnvelopes(message));
          channel.ack(message);
          replayed++;
        }
      }
      for (const message of refused) channel.nack(message);
      this.log.info({ replayed, refused: refused.length }, 'broker: dead letters were replayed');
      return { replayed, refused: refused.length };
    });
  }

  private isUsable(message: GetMessage, service: string): boolean {
    try {
      const types = new Set(asEnvelopes(message).map(replayedType));
      if ([...types].every((type) => this.isOwner(message.properties.userId, type, service))) return true;
      this.log.warn(
        { ...asDeadLetter(message) },
        'broker: a dead letter is not from the service that publishes its type',
      );
    } catch (error) {
      this.log.warn({ ...asDeadLetter(message), err: error }, 'broker: a dead letter is unreadable');
    }
    return false;
  }

  /** Users are named `svc-<service>`. If all services share one user, senders cannot be distinguished. */
  private isOwner(sender: unknown, type: string, service: string): boolean {
    if (!this.user.includes(service)) return sender === this.user;
    const owners: [string, { publishes: readonly string[] }][] = Object.entries(SERVICE_MESSAGES);
    const owner = owners.find(([, { publishes }]) => publishes.includes(type))?.[0];
    return owner !== undefined && sender === this.user.replace(service, owner);
  }

  /** On a channel of its own: an error then closes no consumer's connection, and unacknowledged messages are requeued. */
  private async withChannel<T>(work: (channel: Channel) => Promise<T>): Promise<T> {
    const model = this.connection.current;
    if (!model) throw new DomainError('service.not-ready', { retryAfterSeconds: 5 });
    const channel = await model.createChannel();
    channel.on('error', () => undefined);
    try {
      return await work(channel);
    } finally {
      await closeChannel(channel);
    }
  }
}

async function take(channel: Channel, queue: string): Promise<GetMessage[]> {
  const batch: GetMessage[] = [];
  while (batch.length < MAX_BATCH_SIZE) {
    const message = await channel.get(queue);
    if (!message) break;
    batch.push(message);
  }
  return batch;
}
