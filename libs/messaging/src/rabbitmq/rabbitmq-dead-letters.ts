import { type EventEnvelope, SERVICE_MESSAGES } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import type { Channel, GetMessage } from 'amqplib';
import type { BrokerDeadLetters, BrokerDeadLetterSummary, BrokerReplay } from '../broker/broker.js';
import type { MessagingLog } from '../log.js';
import { MAX_BROKER_DEAD_LETTERS, type RabbitMqNames } from '../routing/rabbitmq-names.js';
import { closeChannel, type RabbitMqConnection } from './rabbitmq-connection.js';
import { parseEnvelopes, replayedType, toDeadLetter } from './rabbitmq-messages.js';

interface DeadLetterHandler {
  readonly service: string;
  /** Resolves when each event is committed or stored, as for a message of the service's own queue. */
  readonly handle: (events: readonly EventEnvelope[]) => Promise<void>;
}

/**
 * Maximum number of unacknowledged messages of a replay. A quorum queue delays acknowledgements when more than 32 are
 * in flight, and loses the delayed acknowledgements when the channel is closed. Handled messages would then stay in the
 * queue.
 */
const MAX_BATCH_SIZE = 25;
/**
 * Maximum number of messages of one replay. Refused messages stay unacknowledged until the end of the replay, so that
 * the broker delivers the messages after them.
 */
const MAX_REPLAYED = 1_000;

/**
 * The queue of messages that RabbitMQ dead-lettered: unreadable messages, and messages that were delivered 20 times
 * without an acknowledgement, because the reading process crashed or its database was unavailable for a very long time.
 * The consumer never handled them, so they are not in its table of dead letters.
 *
 * A replay passes the messages to the consumer and acknowledges each message after the consumer's commit, so no message
 * is lost if the process crashes. The inbox ignores duplicates. Any service may publish a message with any headers to
 * this queue (ADR 26), so the sender is checked. The sender is reliable, because the broker rejects a message with the
 * name of another user.
 */
export class RabbitMqDeadLetters implements BrokerDeadLetters {
  private reader: DeadLetterHandler | undefined;

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly names: RabbitMqNames,
    /** The RabbitMQ user of this service. */
    private readonly user: string,
    private readonly log: MessagingLog,
  ) {}

  setReader(reader: DeadLetterHandler): void {
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
      return { count: messageCount, countMax, oldest: toDeadLetter(message) };
    });
  }

  async replay(beforeFirst?: () => Promise<void>): Promise<BrokerReplay> {
    const { reader } = this;
    if (!reader) return { replayed: 0, refused: 0 };
    return this.withChannel(async (channel) => {
      const refused: GetMessage[] = [];
      let replayed = 0;
      while (replayed + refused.length < MAX_REPLAYED) {
        const batch = await readBatch(channel, this.names.deadLetterQueue(reader.service));
        if (batch.length === 0) break;
        for (const message of batch) {
          if (!this.isUsable(message, reader.service)) {
            refused.push(message);
            continue;
          }
          if (replayed === 0) await beforeFirst?.();
          await reader.handle(parseEnvelopes(message));
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
      const types = new Set(parseEnvelopes(message).map(replayedType));
      if ([...types].every((type) => this.isFromPublisher(message.properties.userId, type, service))) return true;
      this.log.warn(
        { ...toDeadLetter(message) },
        'broker: a dead letter is not from the service that publishes its type',
      );
    } catch (error) {
      this.log.warn({ ...toDeadLetter(message), err: error }, 'broker: a dead letter is unreadable');
    }
    return false;
  }

  /** Users are named `svc-<service>`. If all services share one user, senders cannot be distinguished. */
  private isFromPublisher(sender: unknown, type: string, service: string): boolean {
    if (!this.user.includes(service)) return sender === this.user;
    const owners: [string, { publishes: readonly string[] }][] = Object.entries(SERVICE_MESSAGES);
    const owner = owners.find(([, { publishes }]) => publishes.includes(type))?.[0];
    return owner !== undefined && sender === this.user.replace(service, owner);
  }

  /**
   * Uses a separate channel, so that an error does not close a consumer's connection. Closing the channel requeues
   * unacknowledged messages.
   */
  private async withChannel<T>(use: (channel: Channel) => Promise<T>): Promise<T> {
    const model = this.connection.current;
    if (!model) throw new DomainError('service.not-ready', { retryAfterSeconds: 5 });
    const channel = await model.createChannel();
    channel.on('error', () => undefined);
    try {
      return await use(channel);
    } finally {
      await closeChannel(channel);
    }
  }
}

async function readBatch(channel: Channel, queue: string): Promise<GetMessage[]> {
  const batch: GetMessage[] = [];
  while (batch.length < MAX_BATCH_SIZE) {
    const message = await channel.get(queue);
    if (!message) break;
    batch.push(message);
  }
  return batch;
}
