import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { context, propagation } from '@opentelemetry/api';
import type { Channel, ChannelModel, ConfirmChannel, ConsumeMessage, Message } from 'amqplib';
import { CommandState, type Replica } from '../../broker/replicas.js';
import type { RabbitMqConnection } from '../rabbitmq-connection.js';
import {
  fromJson,
  MAX_PINGED_REQUESTS,
  PING,
  type Ping,
  type Pong,
  REPLY_TYPES,
  toJson,
} from '../rabbitmq-messages.js';
import { NACKED, withDeadline } from '../rabbitmq-publisher.js';
import type { Topology } from '../rabbitmq-topology.js';
import { type Link, notReady, type OutgoingRequest, type PendingRequest, type Retry } from './pending-request.js';

/** Maximum number of requests of one process that wait for a reply. */
const MAX_WAITING_REQUESTS = 2_000;
/**
 * Longest time for which a request is retried that no replica has received: while no replica answers the command, or
 * while the connection moves to another node. A restart of a service lasts about as long, and a person prefers a short
 * wait to an error.
 */
const UNSENT_RETRY_MS = 6_000;
const RETRY_PAUSE_MS = 100;
/** Longest time that a search for replicas waits for the first answer. */
const SEARCH_MS = 1_000;
/** How often a requester that sends requests searches for further replicas. */
const SEARCH_EVERY_MS = 5_000;
/** How often a replica is asked whether it handles the requests that it has not answered. */
const PING_EVERY_MS = 1_000;
/** A replica that does not answer a ping for this time is silent. Its requests are sent to another replica. */
const SILENT_AFTER_MS = 2_000;

/**
 * Sends requests to other services while a person waits. Nothing is stored: a request without a replica that answers it
 * fails after a few seconds, a request without a reply fails at its deadline, and a late reply is ignored.
 *
 * Each replica has a queue of its own, which is lost with the replica or with its node of the broker (ADR 68). A ping
 * with the routing key of all replicas finds them. A request goes to the replica with the fewest requests in flight. It
 * is sent again, to another replica, if the queue of the replica is lost or full, if the replica answers no pings or
 * does not know the request, or if the own connection is lost. So a replica may receive a request that another one has
 * handled: a command must return the first outcome again.
 */
export class RabbitMqRequests {
  private model: ChannelModel | undefined;
  private channel: ConfirmChannel | undefined;
  /**
   * Declared only before the first request: a service that sends no requests has no permission to declare this queue.
   */
  private replyQueue: Promise<string> | undefined;
  private readonly pending = new Map<string, PendingRequest>();
  private readonly commands = new Map<string, CommandState>();
  /** Number of requests in progress, including requests that have not been sent. */
  private waiting = 0;
  private pinging: NodeJS.Timeout | undefined;
  /** Times of the pings that the broker has not confirmed, by replica. */
  private readonly unconfirmed = new Map<string, number>();

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
    channel.on('return', (message) => this.onReturned(message));
    channel.on('close', () => {
      this.unconfirmed.clear();
      // Another node may reach other replicas.
      for (const state of this.commands.values()) state.forgetReachable();
      for (const { retry } of [...this.pending.values()]) retry('unknown');
    });
    this.model = model;
    this.channel = channel;
    this.replyQueue = undefined;
  }

  async request(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    if (this.waiting >= MAX_WAITING_REQUESTS) throw notReady('Too many requests wait for an answer.');
    this.waiting++;
    this.pinging ??= setInterval(() => void this.pingWaiting().catch(() => undefined), PING_EVERY_MS);
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
      if (!(await this.isAllowed(link, request))) {
        if (performance.now() >= retryUntil) throw notReady('The broker is unavailable.');
        await pause(RETRY_PAUSE_MS);
        continue;
      }
      const replica = await this.findReplica(link, command, retryUntil, isSent);
      if (!replica) throw notReady(`No service answers ${command}.`);
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
    const check = withDeadline(this.maySend(model, command), remainingMs, () => new Error('No answer in time.'));
    const isAllowed = await check.catch(() => undefined);
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
      const outageMs = UNSENT_RETRY_MS - this.connection.awayMs;
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

  /** Undefined if no replica is found in time. */
  private async findReplica(link: Link, command: string, until: number, isSent: boolean): Promise<Replica | undefined> {
    const { replicas, searchedAt } = this.stateOf(command);
    const replica = replicas.choose();
    if (replica && !replica.isSilent) {
      if (performance.now() - searchedAt >= SEARCH_EVERY_MS) void this.search(link, command);
      return replica;
    }
    await this.search(link, command);
    const found = replicas.choose();
    if (found || performance.now() >= until) return found;
    await pause(RETRY_PAUSE_MS);
    const current = await this.findLink(until, isSent);
    return current && this.findReplica(current, command, until, isSent);
  }

  private stateOf(command: string): CommandState {
    const known = this.commands.get(command) ?? new CommandState();
    this.commands.set(command, known);
    return known;
  }

  /** Resolves when the first replica answers, when there is no replica, or after {@link SEARCH_MS}. */
  private async search(link: Link, command: string): Promise<void> {
    const state = this.stateOf(command);
    if (state.search) return state.search.promise;
    const search = Promise.withResolvers<void>();
    state.search = search;
    state.searchedAt = performance.now();
    const timer = setTimeout(() => state.search === search && state.endSearch(), SEARCH_MS);
    this.sendPing(link, command, undefined, []);
    await search.promise;
    clearTimeout(timer);
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
        this.pending.set(correlationId, { command, replica, sentAt, ...settle });
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

  /** @param replica undefined for all replicas of the command */
  private sendPing({ channel, replyTo }: Link, command: string, replica: Replica | undefined, ids: string[]): void {
    const ping: Ping = { waitingFor: ids };
    const properties = {
      mandatory: true,
      persistent: false,
      correlationId: command,
      replyTo,
      expiration: SILENT_AFTER_MS,
      contentType: 'application/json',
      type: PING,
    };
    const key = this.topology.commandKey(command, replica?.id);
    try {
      if (replica && !this.unconfirmed.has(replica.id)) this.unconfirmed.set(replica.id, performance.now());
      channel.publish(this.topology.commands, key, toJson(ping), properties, () => {
        if (replica) this.unconfirmed.delete(replica.id);
      });
    } catch {
      // The connection is being closed.
    }
  }

  /** Pings the replicas that have not answered a request for some time. */
  private async pingWaiting(): Promise<void> {
    const { model, channel, replyQueue } = this;
    if (!model || !channel || !replyQueue || this.connection.state !== 'up') return;
    const link = { model, channel, replyTo: await replyQueue };
    const now = performance.now();
    const waiting = [...this.pending].filter(([, { sentAt }]) => now - sentAt >= PING_EVERY_MS);
    const byReplica = Map.groupBy(waiting, ([, { replica }]) => replica);
    for (const [replica, requests] of byReplica) {
      const [, { command }] = requests[0]!;
      const { unansweredSince = now } = replica;
      replica.unansweredSince = unansweredSince;
      replica.isSilent ||= now - unansweredSince >= SILENT_AFTER_MS;
      if (replica.isSilent) this.leave(link, replica, command);
      const ids = requests.slice(0, MAX_PINGED_REQUESTS).map(([id]) => id);
      this.sendPing(link, command, replica, ids);
    }
    this.leaveUnreachableNode([...byReplica.keys()]);
  }

  /** Sends the requests of a silent replica to another replica, or searches for one. */
  private leave(link: Link, replica: Replica, command: string): void {
    const other = this.stateOf(command).replicas.choose();
    if (other && !other.isSilent) this.retryAll(command, replica.id, 'unknown');
    else void this.search(link, command);
  }

  /**
   * Moves to another node if no replica answers and this node cannot reach their queues. The cluster may need a minute
   * to detect a partition.
   */
  private leaveUnreachableNode(waiting: readonly Replica[]): void {
    const isUnreachable = ({ id, isSilent }: Replica): boolean =>
      isSilent && performance.now() - (this.unconfirmed.get(id) ?? Infinity) >= SILENT_AFTER_MS;
    if (waiting.length === 0 || !waiting.every(isUnreachable)) return;
    this.connection.leaveNode(new Error('The node of the broker does not confirm requests.'));
  }

  private onReturned({ fields, properties }: Message): void {
    const { routingKey } = fields;
    const isPing = properties.type === PING;
    const command = String(isPing ? properties.correlationId : properties.type);
    const state = this.stateOf(command);
    if (routingKey === this.topology.commandKey(command)) return state.endSearch();
    const id = routingKey.slice(command.length + 1);
    const returned = isPing ? undefined : this.pending.get(String(properties.correlationId));
    if (returned?.replica.id === id) returned.retry('unsent');
    this.removeReplica(command, id);
  }

  /** The queue of the replica is full, or its node was lost. A full queue rejects pings too, so a search does not find it. */
  private onRejected(correlationId: string, replica: Replica): void {
    const request = this.pending.get(correlationId);
    if (request?.replica !== replica) return;
    this.stateOf(request.command).replicas.remove(replica.id);
    // A full queue rejects a request at once.
    request.retry(performance.now() - request.sentAt < PING_EVERY_MS ? 'unsent' : 'unknown');
  }

  /** The queue of the replica is lost, and with it the requests that the replica had not received. */
  private removeReplica(command: string, id: string): void {
    this.stateOf(command).replicas.remove(id);
    this.retryAll(command, id, 'unknown');
  }

  private retryAll(command: string, replicaId: string, reason: Retry): void {
    for (const request of [...this.pending.values()])
      if (request.command === command && request.replica.id === replicaId) request.retry(reason);
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
      if (properties.type === REPLY_TYPES.pong) return this.onPong(value as Pong);
      if (properties.type === REPLY_TYPES.notTaken) return this.onNotTaken(String(value), request);
      if (request) this.stateOf(request.command).replicas.markAlive(request.replica.id);
      request?.resolve(value);
    } catch {
      request?.reject(notReady('The answer cannot be read.'));
    }
  }

  private onPong({ command, replica, isClosing, unknown }: Pong): void {
    const state = this.commands.get(command);
    if (!state) return;
    if (isClosing) state.replicas.remove(replica);
    else {
      state.replicas.markAlive(replica);
      state.endSearch();
      for (const request of [...this.pending.values()])
        if (request.command === command && request.replica.isSilent) request.retry('unknown');
    }
    for (const id of unknown) {
      const request = this.pending.get(id);
      if (request?.replica.id === replica) request.retry('unknown');
    }
  }

  private onNotTaken(replica: string, request: PendingRequest | undefined): void {
    if (request?.replica.id !== replica) return;
    this.stateOf(request.command).replicas.remove(replica);
    request.retry('unsent');
  }
}
