import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import type { MessagingLog } from '../log.js';
import { isPowerOfTwo } from '../numbers.js';
import { Signal } from '../signal.js';
import { closeChannel, type RabbitMqConnection } from './rabbitmq-connection.js';

/** A consumer that attaches to the connection, and again to each connection that replaces it. */
export interface Attachment {
  attach(model: ChannelModel): Promise<void>;
}

export interface QueueReader<T> {
  /** Declares the queue and returns its name. */
  readonly declare: (channel: Channel, model: ChannelModel) => Promise<string>;
  /** The items of the message. Throws when it is unreadable: the queue then dead-letters it. */
  readonly parse: (message: ConsumeMessage) => readonly T[];
  /** Resolves when the effects are committed. Throws when the items must be retried (the database is unavailable). */
  readonly handle: (items: readonly T[]) => Promise<void>;
  /** How long a message may wait so that it is handled in a batch with others. */
  readonly gatherMs?: number;
  /**
   * The queue has one active reader, and the next may not begin before this one has finished: on close it requeues the messages
   * that it has not begun by closing the channel.
   */
  readonly oneReplica?: boolean;
  /** `onLost` is called before the declaration if this queue does not exist. */
  readonly lost?: { readonly queue: string; readonly onLost: () => Promise<void> };
  /** Called after the declaration of the queue and before its first message is read. */
  readonly attached?: () => Promise<void>;
}

/**
 * Unacknowledged messages that a replica holds, so that a batch gathers while another is handled. Each may contain many events,
 * and no other replica gets them meanwhile.
 */
const PREFETCH = 50;
/** A batch takes messages until they contain so many items. */
const BATCH_ITEMS = 100;
const FIRST_PAUSE_MS = 25;
const MAX_PAUSE_MS = 5_000;
/** Reply code of AMQP. */
const NOT_FOUND = 404;

/**
 * Reads a durable queue in batches, one at a time, in its order, and acknowledges each when its effects are committed.
 *
 * When a batch fails because the database is unavailable, this process keeps it and retries it. A requeue would count as a
 * delivery (3.10 counts each one), so an outage of a minute would dead-letter good messages; they would also come back at once.
 * Meanwhile the broker delivers no more than PREFETCH. An outage longer than the broker's acknowledgement timeout (30 min)
 * closes the channel and counts once.
 */
export class QueueConsumer<T> implements Attachment {
  private session: Session<T> | undefined;
  private closed = false;

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly reader: QueueReader<T>,
    private readonly log: MessagingLog,
  ) {}

  async attach(model: ChannelModel): Promise<void> {
    if (this.closed) return;
    const { lost } = this.reader;
    if (lost && !(await queueExists(model, lost.queue))) await lost.onLost();
    const channel = await this.connection.channel(model);
    const queue = await this.reader.declare(channel, model);
    await this.reader.attached?.();
    await channel.prefetch(PREFETCH);
    const session = new Session(channel, queue, this.reader, this.log);
    this.session = session;
    channel.on('close', () => session.lose());
    const { consumerTag } = await channel.consume(queue, (message) => {
      // The queue was deleted: everything is declared again.
      if (message === null) this.connection.drop(new Error(`${queue} was deleted.`));
      else session.take(message);
    });
    session.consumerTag = consumerTag;
    if (this.closed) await session.close();
  }

  /** Number of messages in this queue that are not delivered yet; undefined while it is not attached. */
  waiting(): Promise<{ queue: string; count: number } | undefined> {
    return this.session?.waiting() ?? Promise.resolve(undefined);
  }

  /** Accepts no further message, finishes and acknowledges the delivered ones. */
  async close(): Promise<void> {
    this.closed = true;
    await this.session?.close();
  }
}

/** The deliveries of one channel. Their acknowledgements are valid on this channel only. */
class Session<T> {
  consumerTag = '';
  private readonly delivered: ConsumeMessage[] = [];
  private running: Promise<void> | undefined;
  private ending = false;
  private lost = false;
  private readonly end = new Signal();

  constructor(
    private readonly channel: Channel,
    private readonly queue: string,
    private readonly reader: QueueReader<T>,
    private readonly log: MessagingLog,
  ) {}

  async waiting(): Promise<{ queue: string; count: number } | undefined> {
    if (this.lost || this.ending) return undefined;
    const { messageCount } = await this.channel.checkQueue(this.queue);
    return { queue: this.queue, count: messageCount };
  }

  take(message: ConsumeMessage): void {
    if (this.lost || (this.ending && this.reader.oneReplica)) return;
    this.delivered.push(message);
    this.running ??= this.run();
  }

  /** The broker requeues every unacknowledged message. */
  lose(): void {
    this.lost = true;
    this.delivered.length = 0;
    this.end.nudge();
  }

  async close(): Promise<void> {
    // A cancelled queue would pass to the next reader at once.
    if (this.reader.oneReplica) this.delivered.length = 0;
    else if (!this.lost && this.consumerTag) await this.channel.cancel(this.consumerTag).catch(() => this.lose());
    this.ending = true;
    this.end.nudge();
    await this.running;
    if (!this.lost) await closeChannel(this.channel);
  }

  private async run(): Promise<void> {
    while (this.delivered.length > 0) {
      if (this.delivered.length < PREFETCH) await this.gather();
      if (!(await this.settleBatch())) break;
    }
    this.running = undefined;
  }

  /** Without a `gatherMs` a batch is what arrived while the previous one was handled, or in one network read. */
  private gather(): Promise<void> {
    const { gatherMs = 0 } = this.reader;
    return new Promise((resolve) => void (gatherMs > 0 ? setTimeout(resolve, gatherMs) : setImmediate(resolve)));
  }

  /** Whether the next batch was handled and acknowledged. */
  private async settleBatch(): Promise<boolean> {
    const items: T[] = [];
    let last: ConsumeMessage | undefined;
    while (items.length < BATCH_ITEMS) {
      const message = this.delivered.shift();
      if (!message) break;
      try {
        items.push(...this.reader.parse(message));
        last = message;
      } catch (error) {
        this.log.error({ err: error, messageId: asText(message.properties.messageId) }, 'broker: unreadable message');
        this.onChannel(() => this.channel.reject(message, false));
      }
    }
    if (!last) return true;
    if (!(await this.handle(items))) return false;
    const upToLast = last;
    // `true` acknowledges all earlier messages: they are in this batch, in an earlier one, or already rejected.
    this.onChannel(() => this.channel.ack(upToLast, true));
    return !this.lost;
  }

  /** A channel rejects everything from the moment its connection begins to close, some time before its close event. */
  private onChannel(send: () => void): void {
    try {
      if (!this.lost) send();
    } catch {
      this.lose();
    }
  }

  private async handle(items: readonly T[]): Promise<boolean> {
    for (let failures = 0; !this.lost;) {
      try {
        await this.reader.handle(items);
        if (failures > 0) this.log.info({ failures }, 'broker: message handling has resumed');
        return true;
      } catch (error) {
        if (this.ending) return false;
        if (isPowerOfTwo(++failures))
          this.log.warn({ err: error, failures }, 'broker: message handling failed, will be retried');
        await this.end.wait(Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 10), MAX_PAUSE_MS));
        if (this.ending) return false;
      }
    }
    return false;
  }
}

/** On a channel of its own: the broker closes it if the queue does not exist. */
async function queueExists(model: ChannelModel, queue: string): Promise<boolean> {
  const channel = await model.createChannel();
  channel.on('error', () => undefined);
  try {
    await channel.checkQueue(queue);
  } catch (error) {
    if ((error as { code?: unknown }).code === NOT_FOUND) return false;
    throw error;
  }
  await channel.close();
  return true;
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, 100) : undefined;
}
