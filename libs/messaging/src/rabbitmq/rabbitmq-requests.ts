import { randomUUID } from 'node:crypto';
import { context, propagation } from '@opentelemetry/api';
import { DomainError } from '@svc/kernel';
import type { Channel, ChannelModel, ConfirmChannel, ConsumeMessage, Options } from 'amqplib';
import type { Responder, Subscription } from '../broker/broker.js';
import type { MessagingLog } from '../log.js';
import { closeChannel, type RabbitMqConnection } from './rabbitmq-connection.js';
import type { Attachment } from './rabbitmq-consumer.js';
import { isRequestOf } from './rabbitmq-messages.js';
import { withDeadline } from './rabbitmq-publisher.js';
import type { Topology } from './rabbitmq-topology.js';

/** Prefix of the reply addresses that releases before ADR 26 use. Only the default exchange can route to them. */
const DIRECT_REPLY = 'amq.rabbitmq.reply-to.';
/** Maximum number of requests of one process that wait for a reply. */
const MAX_WAITING_REQUESTS = 2_000;
/**
 * Maximum number of requests that one replica handles concurrently. Further requests wait in the queue, which is
 * deleted with its last consumer. This number is high, so that few requests are in the queue when it is deleted.
 */
const MAX_CONCURRENT_REQUESTS = 1_000;
const CONNECTION_WAIT_MS = 1_000;
/**
 * Longest time for which a request is retried while no service consumes the command. A restart of a service lasts about
 * as long, and a person prefers a short wait to an error. A retry is safe, because the broker returned the request and
 * no service handled it.
 */
const UNROUTABLE_RETRY_MS = 6_000;
const UNROUTABLE_PAUSE_MS = 100;

class UnroutableError extends Error {
  override readonly name = 'UnroutableError';
}

interface PendingRequest {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: DomainError | UnroutableError) => void;
}

function notReady(reason: string): DomainError {
  return new DomainError('service.not-ready', { cause: new Error(reason), retryAfterSeconds: 1 });
}

/**
 * Sends requests to other services while a person waits. Nothing is stored: a request without a consumer fails after a
 * few seconds, a request without a reply fails at its deadline, and a late reply is ignored.
 */
export class RabbitMqRequests {
  private channel: ConfirmChannel | undefined;
  private model: ChannelModel | undefined;
  /**
   * Declared only before the first request: a service that sends no requests has no permission to declare this queue.
   */
  private replyQueue: Promise<string> | undefined;
  private readonly pending = new Map<string, PendingRequest>();
  /**
   * Number of requests in progress, including requests that are being retried because no service consumes their
   * command.
   */
  private waiting = 0;

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly topology: Topology,
    private readonly service: string,
    /**
     * Whether the broker allows the command. If it were refused on the channel of the other requests, their replies
     * would be lost.
     */
    private readonly maySend: (model: ChannelModel, command: string) => Promise<boolean>,
  ) {}

  async setUp(model: ChannelModel): Promise<void> {
    const channel = await this.connection.confirmChannel(model);
    channel.on('return', ({ fields, properties }) =>
      this.pending
        .get(String(properties.correlationId))
        ?.reject(new UnroutableError(`No service answers ${fields.routingKey}.`)),
    );
    channel.on('close', () => {
      for (const { reject } of this.pending.values()) reject(notReady('The connection was lost.'));
    });
    this.channel = channel;
    this.model = model;
    this.replyQueue = undefined;
  }

  async request(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    if (this.waiting >= MAX_WAITING_REQUESTS) throw notReady('Too many requests wait for an answer.');
    this.waiting++;
    return this.requestWithRetries(command, payload, timeoutMs).finally(() => this.waiting--);
  }

  private async requestWithRetries(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    const deadline = Date.now() + timeoutMs;
    const retryUntil = Date.now() + Math.min(UNROUTABLE_RETRY_MS, timeoutMs - UNROUTABLE_PAUSE_MS);
    for (;;) {
      try {
        return await this.requestOnce(command, payload, deadline - Date.now());
      } catch (error) {
        if (!(error instanceof UnroutableError)) throw error;
        if (Date.now() >= retryUntil) throw notReady(error.message);
        await new Promise((resolve) => setTimeout(resolve, UNROUTABLE_PAUSE_MS));
      }
    }
  }

  private async requestOnce(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    const deadline = Date.now() + timeoutMs;
    const isUsable = await this.connection.isUsableWithin(Math.min(CONNECTION_WAIT_MS, timeoutMs));
    const { blockedBecause } = this.connection;
    if (!isUsable || !this.channel || blockedBecause !== undefined) throw notReady('The broker is unavailable.');
    const { channel, model } = this;
    const isAllowed = await withDeadline(this.maySend(model!, command), timeoutMs, () =>
      notReady('The broker did not respond in time.'),
    ).catch((error: unknown) => {
      throw error instanceof DomainError ? error : notReady('The connection was lost.');
    });
    if (!isAllowed) throw notReady(`The permissions at the broker do not allow ${command}.`);
    return this.sendAndWait(channel, command, payload, Math.max(1, deadline - Date.now()));
  }

  /**
   * Sends a reply. If the broker is unavailable, the reply is dropped, because the caller would have reached its
   * deadline before a retry.
   */
  reply(queue: string, correlationId: string, content: Buffer): void {
    if (!this.channel || this.connection.blockedBecause !== undefined) return;
    const properties = { persistent: false, correlationId, contentType: 'application/json' };
    if (queue.startsWith(DIRECT_REPLY)) void this.replyDirectly(queue, content, properties);
    else if (this.topology.isReplyQueue(queue)) this.channel.publish(this.topology.replies, queue, content, properties);
  }

  /**
   * Uses a separate channel. If this service has no permission for the default exchange, the broker closes only that
   * channel.
   */
  private async replyDirectly(queue: string, content: Buffer, properties: Options.Publish): Promise<void> {
    try {
      const channel = await this.model!.createChannel();
      channel.on('error', () => undefined);
      channel.publish('', queue, content, properties);
      await closeChannel(channel);
    } catch {
      // The connection was lost. The reply is lost too, and the caller's deadline ends its wait.
    }
  }

  private async sendAndWait(
    channel: ConfirmChannel,
    command: string,
    payload: unknown,
    timeoutMs: number,
  ): Promise<unknown> {
    const correlationId = randomUUID();
    const headers: Record<string, string> = {};
    propagation.inject(context.active(), headers);
    let timer: NodeJS.Timeout | undefined;
    try {
      const replyTo = await (this.replyQueue ??= this.consumeReplies(channel));
      return await new Promise((resolve, reject: PendingRequest['reject']) => {
        timer = setTimeout(() => reject(notReady(`${command} was not answered in time.`)), timeoutMs);
        this.pending.set(correlationId, { resolve, reject });
        const properties = {
          mandatory: true,
          persistent: false,
          correlationId,
          replyTo,
          // The broker deletes the request from the queue at the caller's deadline.
          expiration: Math.ceil(timeoutMs),
          contentType: 'application/json',
          type: command,
          headers,
        };
        // A full queue rejects the request, and the caller immediately gets an error.
        channel.publish(this.topology.commands, command, toJson(payload), properties, (error: unknown) => {
          if (error) reject(notReady(`${command} was not accepted by the broker.`));
        });
      });
    } catch (error) {
      throw error instanceof DomainError || error instanceof UnroutableError
        ? error
        : notReady('The connection was lost.');
    } finally {
      clearTimeout(timer);
      this.pending.delete(correlationId);
    }
  }

  private async consumeReplies(channel: Channel): Promise<string> {
    const queue = await this.topology.declareReplies(channel, this.service);
    const options = { noAck: true, exclusive: true };
    await channel.consume(
      queue,
      (message) => {
        if (message) this.resolvePending(message);
        else this.connection.drop(new Error(`${queue} was deleted.`));
      },
      options,
    );
    return queue;
  }

  private resolvePending(message: ConsumeMessage): void {
    const pending = this.pending.get(String(message.properties.correlationId));
    try {
      pending?.resolve(fromJson(message.content));
    } catch {
      pending?.reject(notReady('The answer cannot be read.'));
    }
  }
}

/**
 * Handles the requests of one command. All replicas consume the same queue. If a replica crashes before it replies, the
 * broker delivers the request to another replica. So a command may be executed twice, and the second execution must
 * return the outcome of the first.
 */
export class RabbitMqResponder implements Attachment, Subscription {
  private channel: Channel | undefined;
  private consumerTag = '';
  private isClosed = false;
  private readonly inProgress = new Set<Promise<void>>();

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly topology: Topology,
    private readonly command: string,
    private readonly respond: Responder,
    /**
     * Sends a reply on the connection for publishing, because a broker that is short of memory blocks connections that
     * publish, and the connection for consuming must not be blocked.
     */
    private readonly reply: (queue: string, correlationId: string, content: Buffer) => void,
    private readonly log: MessagingLog,
  ) {}

  async attach(model: ChannelModel): Promise<void> {
    if (this.isClosed) return;
    const channel = await this.connection.channel(model);
    const queue = await this.topology.declareCommand(channel, this.command);
    await channel.prefetch(MAX_CONCURRENT_REQUESTS);
    this.channel = channel;
    channel.on('close', () => (this.channel = this.channel === channel ? undefined : this.channel));
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (message === null) return this.connection.drop(new Error(`${queue} was deleted.`));
      const handling: Promise<void> = this.handle(channel, message).finally(() => this.inProgress.delete(handling));
      this.inProgress.add(handling);
    });
    this.consumerTag = consumerTag;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const { channel } = this;
    await channel?.cancel(this.consumerTag).catch(() => undefined);
    await Promise.all(this.inProgress);
    if (this.channel) await closeChannel(this.channel);
  }

  private async handle(channel: Channel, message: ConsumeMessage): Promise<void> {
    const { replyTo, correlationId } = message.properties as { replyTo?: string; correlationId?: string };
    try {
      if (!isRequestOf(this.command, message, this.topology))
        throw new Error(`The message was published for ${message.fields.routingKey.slice(0, 100)}.`);
      const callerContext = propagation.extract(context.active(), message.properties.headers ?? {});
      const reply = await context.with(callerContext, () => this.respond(fromJson(message.content)));
      this.reply(String(replyTo), String(correlationId), toJson(reply));
    } catch (error) {
      // No reply is sent, so the caller waits until its deadline. Errors of the command itself are not thrown here:
      // `respond` returns them as replies.
      this.log.error({ err: error, command: this.command }, 'broker: a request could not be answered');
    }
    try {
      channel.ack(message);
    } catch {
      // The channel was lost, so the broker delivers the request to another replica. The caller ignores the second
      // reply.
    }
  }
}

function toJson(value: unknown): Buffer {
  return Buffer.from(value === undefined ? '' : JSON.stringify(value));
}

function fromJson(content: Buffer): unknown {
  return content.length === 0 ? undefined : (JSON.parse(content.toString()) as unknown);
}
