import { randomUUID } from 'node:crypto';
import { context, propagation } from '@opentelemetry/api';
import type { Channel, ChannelModel, ConfirmChannel, ConsumeMessage, Options } from 'amqplib';
import { DomainError } from '@svc/kernel';
import type { Responder, Subscription } from '../broker/broker.js';
import type { MessagingLog } from '../log.js';
import { closeChannel, type RabbitMqConnection } from './rabbitmq-connection.js';
import type { Attachment } from './rabbitmq-consumer.js';
import { isRequestOf } from './rabbitmq-messages.js';
import type { Topology } from './rabbitmq-topology.js';

/** How releases before ADR 26 name where their answers go, which can be sent there through the default exchange alone. */
const DIRECT_REPLY = 'amq.rabbitmq.reply-to.';
/** People waiting at once, for one process. */
const ASKING_MAX = 2_000;
/**
 * Requests one replica takes at once; the rest wait for it or for another. They are gone with the queue when its last
 * reader leaves, so few should have to wait there.
 */
const ANSWERING_MAX = 1_000;
const CONNECTION_WAIT_MS = 1_000;
/**
 * Nobody is there to answer: so long as a service takes to start again it is asked again. What came back was handled by
 * nobody, and whoever waits would rather wait a little than be turned away by a restart.
 */
const NOBODY_MS_MAX = 6_000;
const NOBODY_PAUSE_MS = 100;

class NobodyAnswers extends Error {
  override readonly name = 'NobodyAnswers';
}

interface Asked {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: DomainError | NobodyAnswers) => void;
}

function notReady(why: string): DomainError {
  return new DomainError('service.not-ready', { cause: new Error(why), retryAfterSeconds: 1 });
}

/**
 * Asks other services while a person waits. Nothing is stored: a request that is not answered in time is gone, one
 * that nobody is there for is refused after a few seconds, and an answer that comes late is dropped.
 */
export class RabbitMqRequests {
  private channel: ConfirmChannel | undefined;
  private model: ChannelModel | undefined;
  /** Declared for the first request: services that request nothing may not have one. */
  private replyQueue: Promise<string> | undefined;
  private readonly asked = new Map<string, Asked>();
  /** Also those that pause because nobody is there to answer. */
  private waiting = 0;

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly topology: Topology,
    private readonly service: string,
  ) {}

  async setUp(model: ChannelModel): Promise<void> {
    const channel = await this.connection.confirmChannel(model);
    channel.on('return', ({ fields, properties }) =>
      this.asked
        .get(String(properties.correlationId))
        ?.reject(new NobodyAnswers(`Nobody answers ${fields.routingKey}.`)),
    );
    channel.on('close', () => {
      for (const { reject } of this.asked.values()) reject(notReady('The connection was lost.'));
    });
    this.channel = channel;
    this.model = model;
    this.replyQueue = undefined;
  }

  async request(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    if (this.waiting >= ASKING_MAX) throw notReady('Too many requests wait for an answer.');
    this.waiting++;
    return this.askUntilAnswered(command, payload, timeoutMs).finally(() => this.waiting--);
  }

  private async askUntilAnswered(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    const deadline = Date.now() + timeoutMs;
    const patientUntil = Date.now() + Math.min(NOBODY_MS_MAX, timeoutMs - NOBODY_PAUSE_MS);
    for (;;) {
      try {
        return await this.askOnce(command, payload, deadline - Date.now());
      } catch (error) {
        if (!(error instanceof NobodyAnswers)) throw error;
        if (Date.now() >= patientUntil) throw notReady(error.message);
        await new Promise((resolve) => setTimeout(resolve, NOBODY_PAUSE_MS));
      }
    }
  }

  private async askOnce(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    const deadline = Date.now() + timeoutMs;
    const usable = await this.connection.isUsableWithin(Math.min(CONNECTION_WAIT_MS, timeoutMs));
    const { blockedBecause } = this.connection;
    if (!usable || !this.channel || blockedBecause !== undefined) throw notReady('The broker is away.');
    return this.ask(this.channel, command, payload, Math.max(1, deadline - Date.now()));
  }

  /** An answer whose asker is gone goes nowhere, and one that cannot be sent now is not worth sending later. */
  reply(queue: string, correlationId: string, content: Buffer): void {
    if (!this.channel || this.connection.blockedBecause !== undefined) return;
    const properties = { persistent: false, correlationId, contentType: 'application/json' };
    if (queue.startsWith(DIRECT_REPLY)) void this.replyDirectly(queue, content, properties);
    else if (this.topology.isReplyQueue(queue)) this.channel.publish(this.topology.replies, queue, content, properties);
  }

  /** On a channel of its own: without permission for the default exchange only this answer is lost. */
  private async replyDirectly(queue: string, content: Buffer, properties: Options.Publish): Promise<void> {
    try {
      const channel = await this.model!.createChannel();
      channel.on('error', () => undefined);
      channel.publish('', queue, content, properties);
      await closeChannel(channel);
    } catch {
      // The connection is lost, and so is the answer.
    }
  }

  private async ask(channel: ConfirmChannel, command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    const correlationId = randomUUID();
    const headers: Record<string, string> = {};
    propagation.inject(context.active(), headers);
    let timer: NodeJS.Timeout | undefined;
    try {
      const replyTo = await (this.replyQueue ??= this.consumeReplies(channel));
      return await new Promise((resolve, reject: Asked['reject']) => {
        timer = setTimeout(() => reject(notReady(`${command} was not answered in time.`)), timeoutMs);
        this.asked.set(correlationId, { resolve, reject });
        const properties = {
          mandatory: true,
          persistent: false,
          correlationId,
          replyTo,
          // In the queue it is worth nothing once nobody waits for it.
          expiration: Math.ceil(timeoutMs),
          contentType: 'application/json',
          type: command,
          headers,
        };
        // A full queue refuses its message, and that is known at once.
        channel.publish(this.topology.commands, command, asJson(payload), properties, (error: unknown) => {
          if (error) reject(notReady(`${command} was not accepted by the broker.`));
        });
      });
    } catch (error) {
      throw error instanceof DomainError || error instanceof NobodyAnswers
        ? error
        : notReady('The connection was lost.');
    } finally {
      clearTimeout(timer);
      this.asked.delete(correlationId);
    }
  }

  private async consumeReplies(channel: Channel): Promise<string> {
    const queue = await this.topology.declareReplies(channel, this.service);
    const options = { noAck: true, exclusive: true };
    await channel.consume(
      queue,
      (message) => {
        if (message) this.answered(message);
        else this.connection.drop(new Error(`${queue} is gone.`));
      },
      options,
    );
    return queue;
  }

  private answered(message: ConsumeMessage): void {
    const asked = this.asked.get(String(message.properties.correlationId));
    try {
      asked?.resolve(fromJson(message.content));
    } catch {
      asked?.reject(notReady('The answer cannot be read.'));
    }
  }
}

/**
 * Answers one command; replicas share its queue. A request whose replica dies before it answered goes to another, so
 * a command may be begun twice: it must give the first outcome when repeated.
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
    /** Sends on the connection that publishes, so that a broker short of memory does not hold up consuming. */
    private readonly reply: (queue: string, correlationId: string, content: Buffer) => void,
    private readonly log: MessagingLog,
  ) {}

  async attach(model: ChannelModel): Promise<void> {
    if (this.closed) return;
    const channel = await this.connection.channel(model);
    const queue = await this.topology.declareCommand(channel, this.command);
    await channel.prefetch(ANSWERING_MAX);
    this.channel = channel;
    channel.on('close', () => (this.channel = this.channel === channel ? undefined : this.channel));
    const { consumerTag } = await channel.consume(queue, (message) => {
      if (message === null) return this.connection.drop(new Error(`${queue} is gone.`));
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
      const asker = propagation.extract(context.active(), message.properties.headers ?? {});
      const reply = await context.with(asker, () => this.answer(fromJson(message.content)));
      this.reply(String(replyTo), String(correlationId), asJson(reply));
    } catch (error) {
      // The asker's deadline tells it; what answers turns its own errors into refusals.
      this.log.error({ err: error, command: this.command }, 'broker: a request could not be answered');
    }
    try {
      channel.ack(message);
    } catch {
      // The channel is lost: the request goes to another, whose answer nobody waits for.
    }
  }
}

function asJson(value: unknown): Buffer {
  return Buffer.from(value === undefined ? '' : JSON.stringify(value));
}

function fromJson(content: Buffer): unknown {
  return content.length === 0 ? undefined : (JSON.parse(content.toString()) as unknown);
}
