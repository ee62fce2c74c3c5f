import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { context, propagation } from '@opentelemetry/api';
import { withDeadline } from '@svc/kernel';
import type { Channel, ChannelModel, ConfirmChannel, ConsumeMessage, Message } from 'amqplib';
import type { RabbitMqConnection } from '../rabbitmq-connection.js';
import { fromJson, PING, type Pong, REPLY_TYPES, toJson } from '../rabbitmq-messages.js';
import { NACKED } from '../rabbitmq-publisher.js';
import type { Topology } from '../rabbitmq-topology.js';
import { type Link, notReady, type OutgoingRequest, type PendingRequest, type Retry } from './pending-request.js';
import { PING_EVERY_MS, ReplicaMonitor } from './replica-monitor.js';
import { commandOfPing, type Replica } from './replicas.js';

/** Maximum number of requests of one process that wait for a reply. */
const MAX_WAITING_REQUESTS = 2_000;
/**
 * Longest time for which a request is retried that no replica has received: while no replica answers the command, or
 * while the connection moves to another node. A restart of a service lasts about as long, and a person prefers a short
 * wait to an error.
 */
const UNSENT_RETRY_MS = 6_000;
const RETRY_PAUSE_MS = 100;

/**
 * Sends requests to other services while a person waits. Nothing is stored: a request without a replica that answers it
 * fails after a few seconds, a request without a reply fails at its deadline, and a late reply is ignored.
 *
 * Each replica has a queue of its own, which is lost with the replica or with its node of the broker (ADR 68). A request
 * goes to the replica with the fewest requests in flight. It is sent again, to another replica, if the queue of the
 * replica is lost or full, if the {@link ReplicaMonitor} finds that the replica does not handle it, or if the own
 * connection is lost. So a replica may receive a request that another one has handled: a command must return the first
 * outcome again.
 */
export class RabbitMqRequests {
  private model: ChannelModel | undefined;
  private channel: ConfirmChannel | undefined;
  /**
   * Declared only before the first request: a service that sends no requests has no permission to declare this queue.
   */
  private replyQueue: Promise<string> | undefined;
  private readonly pending = new Map<string, PendingRequest>();
  private readonly monitor: ReplicaMonitor;
  /** Number of requests in progress, including requests that have not been sent. */
  private waiting = 0;
  private pinging: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: RabbitMqConnection,
    private readonly topology: Topology,
    private readonly service: string,
    /**
     * Whether the broker allows the command. If it were refused on the channel of the other requests, their replies
     * would be lost.
     */
    private readonly maySend: (model: ChannelModel, command: string) => Promise<boolean>,
  ) {
    this.monitor = new ReplicaMonitor(connection, topology, this.pending);
  }

  async setUp(model: ChannelModel): Promise<void> {
    const channel = await this.connection.confirmChannel(model);
    channel.on('return', (message) => this.onReturned(message));
    channel.on('close', () => {
      this.monitor.markAllSilent();
      for (const { retry } of [...this.pending.values()]) retry('unknown');
    });
    this.model = model;
    this.channel = channel;
    this.replyQueue = undefined;
  }

  async request(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    if (this.waiting >= MAX_WAITING_REQUESTS) throw notReady('Too many requests wait for an answer.');
    this.waiting++;
    this.pinging ??= setInterval(() => void this.pingReplicas().catch(() => undefined), PING_EVERY_MS);
    try {
      return await this.requestWithRetries(command, payload, timeoutMs);
    } finally {
      if (--this.waiting === 0) {
        clearInterval(this.pinging);
        this.pinging = undefined;
      }
    }
  }

  /**
   * Sends a reply. If the broker is unavailable, the reply is dropped. The requester then sends the request again,
   * because this replica no longer handles it.
   */
  reply(queue: string, type: string, correlationId: string, content: Buffer): void {
    if (!this.channel || this.connection.blockedBecause !== undefined || !this.topology.isReplyQueue(queue)) return;
    const properties = { persistent: false, type, correlationId, contentType: 'application/json' };
    try {
      this.channel.publish(this.topology.replies, queue, content, properties);
    } catch {
      // The connection is being closed.
    }
  }

  private async requestWithRetries(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    const headers: Record<string, string> = {};
    propagation.inject(context.active(), headers);
    const [now, correlationId, content] = [performance.now(), randomUUID(), toJson(payload)];
    const request = { command, correlationId, content, headers, deadline: now + timeoutMs };
    let retryUntil = now + Math.min(UNSENT_RETRY_MS, timeoutMs - RETRY_PAUSE_MS);
    let isSent = false;
    for (;;) {
      const link = await this.findLink(retryUntil, isSent);
      if (!link) throw notReady('The broker is unavailable.');
      const isAllowed = await this.isAllowed(link, request);
      const replica = isAllowed ? await this.monitor.choose(link, command) : undefined;
      if (!replica) {
        const reason = isAllowed ? `No service answers ${command}.` : 'The broker is unavailable.';
        if (performance.now() >= retryUntil) throw notReady(reason);
        await pause(RETRY_PAUSE_MS);
        continue;
      }
      const result = await this.sendAndWait(link, replica, request);
      if ('reply' in result) return result.reply;
      if (result.retry === 'unknown') {
        isSent = true;
        retryUntil = request.deadline - RETRY_PAUSE_MS;
      }
    }
  }

  /**
   * Whether the broker allows the command. False if it did not answer, for example because the connection was lost.
   *
   * @throws DomainError if the broker refuses the command
   */
  private async isAllowed({ model }: Link, { command, deadline }: OutgoingRequest): Promise<boolean> {
    const remainingMs = Math.max(1, deadline - performance.now());
    const isAllowed = await withDeadline(this.maySend(model, command), remainingMs, () => undefined).catch(
      () => undefined,
    );
    if (isAllowed === false) throw notReady(`The permissions at the broker do not allow ${command}.`);
    return isAllowed !== undefined;
  }

  /**
   * The current connection, or the next one. A new request does not wait during a long outage, but a request that may
   * have been handled waits until its deadline. Undefined while the broker accepts no messages.
   */
  private async findLink(until: number, isSent: boolean): Promise<Link | undefined> {
    for (;;) {
      const remainingMs = until - performance.now();
      const outageMs = UNSENT_RETRY_MS - this.connection.unavailableMs;
      const isUsable = await this.connection.isUsableWithin(
        Math.max(0, isSent ? remainingMs : Math.min(remainingMs, outageMs)),
      );
      const { model, channel } = this;
      if (!isUsable || !model || !channel || this.connection.blockedBecause !== undefined) return undefined;
      try {
        return { model, channel, replyTo: await (this.replyQueue ??= this.consumeReplies(channel)) };
      } catch {
        // The connection was lost meanwhile.
        if (this.channel === channel) this.replyQueue = undefined;
        if (performance.now() >= until) return undefined;
        await pause(RETRY_PAUSE_MS);
      }
    }
  }

  private async sendAndWait(
    { channel, replyTo }: Link,
    replica: Replica,
    { command, correlationId, content, headers, deadline }: OutgoingRequest,
  ): Promise<{ reply: unknown } | { retry: Retry }> {
    let timer: NodeJS.Timeout | undefined;
    replica.inFlight++;
    try {
      return await new Promise((resolve, reject: PendingRequest['reject']) => {
        const sentAt = performance.now();
        const timeoutMs = Math.max(1, deadline - sentAt);
        timer = setTimeout(() => reject(notReady(`${command} was not answered in time.`)), timeoutMs);
        const retry = (reason: Retry): void => resolve({ retry: reason });
        const settle = { resolve: (reply: unknown): void => resolve({ reply }), reject, retry };
        this.pending.set(correlationId, { replica, sentAt, ...settle });
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
        const key = this.topology.commandKey(command, replica.id);
        try {
          channel.publish(this.topology.commands, key, content, properties, (error: unknown) => {
            if ((error as Error | null)?.message === NACKED) this.onRejected(correlationId, replica);
          });
        } catch {
          // The connection is being closed.
          setImmediate(() => retry('unsent'));
        }
      });
    } finally {
      clearTimeout(timer);
      replica.inFlight--;
      this.pending.delete(correlationId);
    }
  }

  private async pingReplicas(): Promise<void> {
    const { model, channel, replyQueue } = this;
    if (!model || !channel || !replyQueue || this.connection.state !== 'up') return;
    this.monitor.pingWaiting({ model, channel, replyTo: await replyQueue });
  }

  private onReturned({ fields, properties }: Message): void {
    const { routingKey } = fields;
    const isPing = properties.type === PING;
    const command = isPing ? commandOfPing(String(properties.correlationId)) : String(properties.type);
    if (routingKey === this.topology.commandKey(command)) return this.monitor.onNoReplica(command);
    const id = routingKey.slice(command.length + 1);
    const returned = isPing ? undefined : this.pending.get(String(properties.correlationId));
    if (returned?.replica.id === id) returned.retry('unsent');
    this.monitor.onQueueLost(command, id);
  }

  /** The queue of the replica is full, or its node was lost. A full queue rejects pings too, so a search does not find it. */
  private onRejected(correlationId: string, replica: Replica): void {
    const request = this.pending.get(correlationId);
    if (request?.replica !== replica) return;
    this.monitor.remove(replica);
    // A full queue rejects a request at once.
    request.retry(performance.now() - request.sentAt < PING_EVERY_MS ? 'unsent' : 'unknown');
  }

  private async consumeReplies(channel: Channel): Promise<string> {
    const queue = await this.topology.declareReplies(channel, this.service);
    const options = { noAck: true, exclusive: true };
    await channel.consume(
      queue,
      (message) => {
        if (message) this.onReply(message);
        else this.connection.drop(new Error(`${queue} was deleted.`));
      },
      options,
    );
    return queue;
  }

  private onReply({ properties, content }: ConsumeMessage): void {
    const request = this.pending.get(String(properties.correlationId));
    try {
      const value = fromJson(content);
      if (properties.type === REPLY_TYPES.pong)
        return this.monitor.onPong(value as Pong, String(properties.correlationId));
      if (properties.type === REPLY_TYPES.notTaken) return this.onNotTaken(String(value), request);
      if (request) this.monitor.markAlive(request.replica);
      request?.resolve(value);
    } catch {
      request?.reject(notReady('The answer cannot be read.'));
    }
  }

  private onNotTaken(replicaId: string, request: PendingRequest | undefined): void {
    if (request?.replica.id !== replicaId) return;
    this.monitor.remove(request.replica);
    request.retry('unsent');
  }
}
