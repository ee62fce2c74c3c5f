import { randomUUID } from 'node:crypto';
import { context, propagation } from '@opentelemetry/api';
import { DomainError } from '@svc/kernel';
import type { Channel, ChannelModel, ConfirmChannel, ConsumeMessage, Options } from 'amqplib';
import type { Responder, Subscription } from '../broker/broker.js';
import type { MessagingLog } from '../log.js';
import { closeChannel, type RabbitMqConnection } from './rabbitmq-connection.js';
import type { Attachment } from './rabbitmq-consumer.js';
import { isRequestOf } from './rabbitmq-messages.js';
import type { Topology } from './rabbitmq-topology.js';

/** Prefix of reply addresses of releases before ADR 26, which only the default exchange can reach. */
const DIRECT_REPLY = 'amq.rabbitmq.reply-to.';
/** Most requests that wait for a reply, for one process. */
const MAX_WAITING_REQUESTS = 2_000;
/**
 * Most requests that one replica handles at once; the rest wait for it or for another. They are lost with the queue when its
 * last reader leaves, so few should have to wait there.
 */
const MAX_CONCURRENT_REQUESTS = 1_000;
const CONNECTION_WAIT_MS = 1_000;
/**
 * Longest time for retries while no service consumes the command: as long as a restart takes. A returned request was not
 * handled, and for a person a short wait is better than an error.
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

function notReady(why: string): DomainError {
  return new DomainError('service.not-ready', { cause: new Error(why), retryAfterSeconds: 1 });
}

/**
 * Sends requests to other services while a person waits. Nothing is stored: a request that is not answered in time is dropped,
 * a request without a consumer fails after a few seconds, and a late reply is dropped.
 */
export class RabbitMqRequests {
  private channel: ConfirmChannel | undefined;
  private model: ChannelModel | undefined;
  /** Declared for the first request: services that request nothing have no permission for one. */
  private replyQueue: Promise<string> | undefined;
  private readonly pending = new Map<string, PendingRequest>();
  /** Also counts requests that pause because no service consumes their command. */
  private waiting = 0;

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly topology: Topology,
    private readonly service: string,
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
    return this.requestUntilAnswered(command, payload, timeoutMs).finally(() => this.waiting--);
  }

  private async requestUntilAnswered(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
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
    const usable = await this.connection.isUsableWithin(Math.min(CONNECTION_WAIT_MS, timeoutMs));
    const { blockedBecause } = this.connection;
    if (!usable || !this.channel || blockedBecause !== undefined) throw notReady('The broker is unavailable.');
    return this.ask(this.channel, command, payload, Math.max(1, deadline - Date.now()));
  }

  /** A reply to a caller that is gone is dropped, and one that cannot be sent now is not worth sending later. */
  reply(queue: string, correlationId: string, content: Buffer): void {
    if (!this.channel || this.connection.blockedBecause !== undefined) return;
    const properties = { persistent: false, correlationId, contentType: 'application/json' };
    if (queue.startsWith(DIRECT_REPLY)) void this.replyDirectly(queue, content, properties);
    else if (this.topology.isReplyQueue(queue)) this.channel.publish(this.topology.replies, queue, content, properties);
  }

  /** On a channel of its own: without permission for the default exchange only this reply is lost. */
  private async replyDirectly(queue: string, content: Buffer, properties: Options.Publish): Promise<void> {
    try {
      const channel = await this.model!.createChannel();
      channel.on('error', () => undefined);
      channel.publish('', queue, content, properties);
      await closeChannel(channel);
    } catch {
      // The connection is lost, and with it the reply.
    }
  }

  private async ask(channel: ConfirmChannel, command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
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
          // The request expires in the queue with the caller's timeout.
          expiration: Math.ceil(timeoutMs),
          contentType: 'application/json',
          type: command,
          headers,
        };
        // A full queue rejects its message, which the caller learns at once.
        channel.publish(this.topology.commands, command, asJson(payload), properties, (error: unknown) => {
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
        if (message) this.answered(message);
        else this.connection.drop(new Error(`${queue} was deleted.`));
      },
      options,
    );
    return queue;
  }

  private answered(message: ConsumeMessage): void {
    const pending = this.pending.get(String(message.properties.correlationId));
    try {
      pending?.resolve(fromJson(message.content));
    } catch {
      pending?.reject(notReady('The answer cannot be read.'));
    }
  }
}

/**
 * Answers one command; replicas share its queue. If a replica dies before it replies, the broker delivers the request to
 * another, so a command may begin twice: it must return the first outcome when repeated.
 */
export class RabbitMqResponder implements Attachment, Subscription {
  private channel: Channel | undefined;
  private consumerTag = '';
  private closed = false;
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly topology: Topology,
    private readonly command: string,
    private readonly answer: Responder,
    /** Sends on the publishing connection, so that a broker short of memory does not block consuming. */
    private readonly reply: (queue: string, correlationId: string, content: Buffer) => void,
    private readonly log: MessagingLog,
  ) {}

  async attach(model: ChannelModel): Promise<void> {
    if (this.closed) return;
    const channel = await this.connection.channel(model);
    const queue = await this.topology.declareCommand(channel, this.command);
    await channel.prefetch(MAX_CONCURRENT_REQUESTS);
    this.channel = channel;
    channel.on('close', () => (this.channel = this.channel === channel ? undefined : this.channel));
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (message === null) return this.connection.drop(new Error(`${queue} was deleted.`));
      const work: Promise<void> = this.handle(channel, message).finally(() => this.underWay.delete(work));
      this.underWay.add(work);
    });
    this.consumerTag = consumerTag;
  }

  async close(): Promise<void> {
    this.closed = true;
    const { channel } = this;
    await channel?.cancel(this.consumerTag).catch(() => undefined);
    await Promise.all(this.underWay);
    if (this.channel) await closeChannel(this.channel);
  }

  private async handle(channel: Channel, message: ConsumeMessage): Promise<void> {
    const { replyTo, correlationId } = message.properties as { replyTo?: string; correlationId?: string };
    try {
      if (!isRequestOf(this.command, message, this.topology))
        throw new Error(`The message was published for ${message.fields.routingKey.slice(0, 100)}.`);
      const caller = propagation.extract(context.active(), message.properties.headers ?? {});
      const reply = await context.with(caller, () => this.answer(fromJson(message.content)));
      this.reply(String(replyTo), String(correlationId), asJson(reply));
    } catch (error) {
      // The caller's deadline ends its wait; the responder turns its own errors into error replies.
      this.log.error({ err: error, command: this.command }, 'broker: a request could not be answered');
    }
    try {
      channel.ack(message);
    } catch {
      // The channel is lost: another replica gets the request, but no caller waits for its reply.
    }
  }
}

function asJson(value: unknown): Buffer {
  return Buffer.from(value === undefined ? '' : JSON.stringify(value));
}

function fromJson(content: Buffer): unknown {
  return content.length === 0 ? undefined : (JSON.parse(content.toString()) as unknown);
}
