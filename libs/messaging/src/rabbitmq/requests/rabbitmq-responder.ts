import { randomUUID } from 'node:crypto';
import { context, propagation } from '@opentelemetry/api';
import type { Channel, ConsumeMessage } from 'amqplib';
import type { Responder, Subscription } from '../../broker/broker.js';
import type { MessagingLog } from '../../log.js';
import type { Attachment } from '../rabbitmq-attachments.js';
import { closeChannel } from '../rabbitmq-connection.js';
import {
  fromJson,
  isSentTo,
  MAX_PINGED_REQUESTS,
  PING,
  type Ping,
  type Pong,
  REPLY_TYPES,
  toJson,
} from '../rabbitmq-messages.js';
import type { Topology } from '../rabbitmq-topology.js';

/** Maximum number of requests that one replica handles concurrently. Further requests wait in its queue. */
const MAX_CONCURRENT_REQUESTS = 1_000;
/** Longest time for which a replica that stops reads the requests that were already routed to its queue. */
const DRAIN_MS = 5_000;
const DRAIN_PAUSE_MS = 20;

/** Sends a message to the reply queue of a requester. */
export type SendReply = (queue: string, type: string, correlationId: string, content: Buffer) => void;

/**
 * Handles the requests of one command that are sent to this replica. The queue is lost with the connection. The
 * requester then sends the request to another replica, so a command may be executed twice, and the second execution
 * must return the outcome of the first.
 */
export class RabbitMqResponder implements Attachment, Subscription {
  readonly queue: Attachment['queue'];
  private attached: AttachedQueue | undefined;
  private isClosing = false;

  constructor(
    private readonly topology: Topology,
    private readonly command: string,
    private readonly respond: Responder,
    /**
     * Sends a reply on the connection for requests, because a broker that is short of memory blocks connections that
     * publish, and the connection for consuming must not be blocked.
     */
    private readonly reply: SendReply,
    private readonly log: MessagingLog,
  ) {
    this.queue = { name: command, isForRequests: true };
  }

  async attach(channel: Channel): Promise<void> {
    if (this.isClosing) return closeChannel(channel);
    const { topology, command } = this;
    // The name is new, because the broker may not have deleted the queue of a lost connection yet.
    const attached = new AttachedQueue(channel, randomUUID());
    const queue = await topology.declareCommand(channel, command, attached.replica);
    await channel.prefetch(MAX_CONCURRENT_REQUESTS);
    this.attached = attached;
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (message) this.accept(attached, message);
      // The queue was deleted.
      else void closeChannel(channel);
    });
    attached.consumerTag = consumerTag;
    await topology.bindCommand(channel, command, attached.replica);
  }

  /** Finishes the requests that this replica has begun. Requests that arrive meanwhile are returned to the requesters. */
  async close(): Promise<void> {
    this.isClosing = true;
    const { attached, topology, command } = this;
    if (!attached) return;
    const { channel, replica } = attached;
    await attached.drained();
    try {
      await topology.unbindCommand(channel, command, replica);
      await this.drainQueue(channel, topology.commandQueue(command, replica));
      await channel.cancel(attached.consumerTag);
    } catch {
      // The channel was lost, and the queue with it.
    }
    await attached.drained();
    await closeChannel(channel);
  }

  private async drainQueue(channel: Channel, queue: string): Promise<void> {
    const until = performance.now() + DRAIN_MS;
    while ((await channel.checkQueue(queue)).messageCount > 0 && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, DRAIN_PAUSE_MS));
  }

  private accept(attached: AttachedQueue, message: ConsumeMessage): void {
    if (message.properties.type === PING) this.answerPing(attached, message);
    else if (this.isClosing) this.sendReply(message, REPLY_TYPES.notTaken, attached.replica);
    else return attached.track(message, this.handle(attached, message));
    attached.acknowledge(message);
  }

  /** Lists the requests that the requester waits for and that this replica does not handle. */
  private answerPing({ replica, correlationIds }: AttachedQueue, message: ConsumeMessage): void {
    const keys = [this.topology.commandKey(this.command), this.topology.commandKey(this.command, replica)];
    if (!keys.some((key) => isSentTo(key, message, this.topology))) return;
    const unknown = parsePing(message).filter((id) => !correlationIds.has(id));
    const pong: Pong = { replica, isClosing: this.isClosing, unknown };
    this.sendReply(message, REPLY_TYPES.pong, pong);
  }

  private async handle({ replica }: AttachedQueue, message: ConsumeMessage): Promise<void> {
    try {
      if (!isSentTo(this.topology.commandKey(this.command, replica), message, this.topology))
        throw new Error(`The message was published for ${message.fields.routingKey.slice(0, 100)}.`);
      const callerContext = propagation.extract(context.active(), message.properties.headers ?? {});
      const reply = await context.with(callerContext, () => this.respond(fromJson(message.content)));
      this.sendReply(message, REPLY_TYPES.reply, reply);
    } catch (error) {
      // No reply is sent, so the caller waits until its deadline. Errors of the command itself are not thrown here:
      // `respond` returns them as replies.
      this.log.error({ err: error, command: this.command }, 'broker: a request could not be answered');
    }
  }

  private sendReply({ properties }: ConsumeMessage, type: string, content: unknown): void {
    this.reply(String(properties.replyTo), type, String(properties.correlationId), toJson(content));
  }
}

/** Returns the ids of the requests that the requester waits for. */
function parsePing({ content }: ConsumeMessage): string[] {
  try {
    const { waitingFor } = fromJson(content) as Partial<Ping>;
    return Array.isArray(waitingFor) ? waitingFor.slice(0, MAX_PINGED_REQUESTS).map(String) : [];
  } catch {
    return [];
  }
}

/** The queue of this replica on one channel, and the requests that were received on it. */
class AttachedQueue {
  consumerTag = '';
  /** Of the requests in progress. */
  readonly correlationIds = new Set<string>();
  private readonly inProgress = new Set<Promise<void>>();

  constructor(
    readonly channel: Channel,
    readonly replica: string,
  ) {}

  track(message: ConsumeMessage, handling: Promise<void>): void {
    const correlationId = String(message.properties.correlationId);
    this.correlationIds.add(correlationId);
    const tracked: Promise<void> = handling.finally(() => {
      this.correlationIds.delete(correlationId);
      this.inProgress.delete(tracked);
      this.acknowledge(message);
    });
    this.inProgress.add(tracked);
  }

  acknowledge(message: ConsumeMessage): void {
    try {
      this.channel.ack(message);
    } catch {
      // The channel was lost, and the queue with it. The requester ignores a second reply.
    }
  }

  async drained(): Promise<void> {
    while (this.inProgress.size > 0) await Promise.all(this.inProgress);
  }
}
