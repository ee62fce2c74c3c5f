import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import type { MessagingLog } from '../log.js';
import { isPowerOfTwo } from '../numbers.js';
import { Signal } from '../signal.js';
import type { Attachment } from './rabbitmq-attachments.js';
import { closeChannel } from './rabbitmq-connection.js';

export interface QueueReaderSettings<T> {
  /** Name of the queue. */
  readonly queue: string;
  /** Declares the queue. */
  readonly declare: (channel: Channel, model: ChannelModel) => Promise<unknown>;
  /** Returns the items in the message. Throws when the message is unreadable. The message is then dead-lettered. */
  readonly parse: (message: ConsumeMessage) => readonly T[];
  /** Resolves when the effects are committed. Throws when the items must be retried (the database is unavailable). */
  readonly handle: (items: readonly T[]) => Promise<void>;
  /** How long a message may wait so that it is handled in a batch with other messages. */
  readonly maxBatchWaitMs?: number;
  /**
   * True if only one replica reads the queue at a time. The next replica must not begin before this replica has
   * finished. Therefore close() does not cancel the consumer. It closes the channel, which requeues the messages that
   * this replica has not begun.
   */
  readonly isSingleActive?: boolean;
  /** Called before the declaration if the queue does not exist. */
  readonly onQueueLost?: () => Promise<void>;
  /** Called after the queue is declared and before its first message is read. */
  readonly onAttached?: () => Promise<void>;
}

/**
 * Maximum number of unacknowledged messages of a replica. It is more than one, so that the next batch arrives while the
 * current batch is handled. It is not larger, because no other replica receives these messages meanwhile, and each
 * message may contain many events.
 */
const PREFETCH = 50;
/** A batch ends when its messages contain at least this number of items. */
const BATCH_ITEMS = 100;
const FIRST_PAUSE_MS = 25;
const MAX_PAUSE_MS = 5_000;
/** Reply code of AMQP. */
const NOT_FOUND = 404;

/**
 * Reads a durable queue in batches, one batch at a time, in the order of the queue. Acknowledges each batch when its
 * effects are committed.
 *
 * When a batch fails because the database is unavailable, this process does not requeue the batch but retries it. A
 * requeued message would be delivered again immediately, and RabbitMQ 3.10 counts each requeue as a delivery, so an
 * outage of a minute would dead-letter valid messages. During the retries the broker delivers at most PREFETCH
 * messages. If an outage lasts longer than the broker's acknowledgement timeout (30 min), the broker closes the
 * channel, which counts as one delivery.
 */
export class QueueConsumer<T> implements Attachment {
  private session: Session<T> | undefined;
  private isClosed = false;

  constructor(
    private readonly reader: QueueReaderSettings<T>,
    private readonly log: MessagingLog,
  ) {}

  get queue() {
    return { name: this.reader.queue, isForRequests: false };
  }

  async attach(channel: Channel, model: ChannelModel): Promise<void> {
    if (this.isClosed) return closeChannel(channel);
    const { queue, onQueueLost, onAttached } = this.reader;
    if (onQueueLost && !(await queueExists(model, queue))) await onQueueLost();
    await this.reader.declare(channel, model);
    await onAttached?.();
    await channel.prefetch(PREFETCH);
    const session = new Session(channel, queue, this.reader, this.log);
    this.session = session;
    channel.on('close', () => session.lose());
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (message) session.add(message);
      // The queue was deleted, or the node with the queue was stopped.
      else void closeChannel(channel);
    });
    session.consumerTag = consumerTag;
    if (this.isClosed) await session.close();
  }

  /** Number of messages in this queue that are not delivered yet. Undefined while this consumer is not attached. */
  waiting(): Promise<{ queue: string; count: number } | undefined> {
    return this.session?.waiting() ?? Promise.resolve(undefined);
  }

  /** Accepts no further message. Finishes and acknowledges the delivered messages. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.session?.close();
  }
}

/** The deliveries of one channel. Their acknowledgements are valid on this channel only. */
class Session<T> {
  consumerTag = '';
  private readonly delivered: ConsumeMessage[] = [];
  private running: Promise<void> | undefined;
  private isEnding = false;
  private lost = false;
  private readonly end = new Signal();

  constructor(
    private readonly channel: Channel,
    private readonly queue: string,
    private readonly reader: QueueReaderSettings<T>,
    private readonly log: MessagingLog,
  ) {}

  async waiting(): Promise<{ queue: string; count: number } | undefined> {
    if (this.lost || this.isEnding) return undefined;
    const { messageCount } = await this.channel.checkQueue(this.queue);
    return { queue: this.queue, count: messageCount };
  }

  add(message: ConsumeMessage): void {
    if (this.lost || (this.isEnding && this.reader.isSingleActive)) return;
    this.delivered.push(message);
    this.running ??= this.run();
  }

  /** Call this when the channel was lost. The broker then requeues every unacknowledged message. */
  lose(): void {
    this.lost = true;
    this.delivered.length = 0;
    this.end.nudge();
  }

  async close(): Promise<void> {
    // Only the channel is closed. If the consumer were cancelled, the next replica would begin immediately.
    if (this.reader.isSingleActive) this.delivered.length = 0;
    else if (!this.lost && this.consumerTag) await this.channel.cancel(this.consumerTag).catch(() => this.lose());
    this.isEnding = true;
    this.end.nudge();
    await this.running;
    if (!this.lost) await closeChannel(this.channel);
  }

  private async run(): Promise<void> {
    while (this.delivered.length > 0) {
      if (this.delivered.length < PREFETCH) await this.waitForMessages();
      if (!(await this.handleBatch())) break;
    }
    this.running = undefined;
  }

  /**
   * Waits for further messages of the batch. Without `maxBatchWaitMs`, a batch consists of the messages that arrived
   * while the previous batch was handled, or in one network read.
   */
  private waitForMessages(): Promise<void> {
    const { maxBatchWaitMs = 0 } = this.reader;
    return new Promise(
      (resolve) => void (maxBatchWaitMs > 0 ? setTimeout(resolve, maxBatchWaitMs) : setImmediate(resolve)),
    );
  }

  /** Handles and acknowledges the next batch. Resolves to false if the channel was lost or is closing. */
  private async handleBatch(): Promise<boolean> {
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
    // `true` also acknowledges all earlier messages. They are in this batch or an earlier batch, or were rejected.
    this.onChannel(() => this.channel.ack(upToLast, true));
    return !this.lost;
  }

  /**
   * Every call on a channel throws from the moment when its connection begins to close, which is before the close
   * event.
   */
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
        if (this.isEnding) return false;
        if (isPowerOfTwo(++failures))
          this.log.warn({ err: error, failures }, 'broker: message handling failed, will be retried');
        await this.end.wait(Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 10), MAX_PAUSE_MS));
        if (this.isEnding) return false;
      }
    }
    return false;
  }
}

/** Uses a separate channel, because the broker closes the channel if the queue does not exist. */
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
