import { createHash } from 'node:crypto';
import type { Channel } from 'amqplib';
import type { Subscriber } from './broker.js';

/** Type of a message without an effect, by which a publisher finds the slots that have a queue. */
export const PROBE = 'relay.probe.v1';
const SLOTS = 256;

/**
 * Every exchange and queue there is on the broker, and the only place that declares them. Whoever needs one declares
 * it, each time it connects: declaring what exists changes nothing. The arguments of a queue that exists cannot be
 * changed by a declaration (406, seen in the log): give it another name, or use a policy.
 *
 *   svc.events        topic, routing key = type of the event; with `.to.<slot>` behind it to one consuming service alone
 *     → svc.<service>.events         quorum; one for each consuming service, shared by its replicas
 *   (default exchange)
 *     → svc.<service>.past           quorum, read by one replica at a time: what the service asked to be told again
 *   svc.dead-letters  direct, routing key = service
 *     → svc.<service>.dead-letters   what cannot be read, and what ended its process 20 times
 *   svc.replays       direct, routing key = type of the event
 *     → svc.<service>.replays        quorum; requests for the past, bound for each type the service has published
 *   svc.commands.<command>           classic; requests under way, never on disk
 */
export class Topology {
  readonly events: string;
  readonly deadLetters: string;
  readonly replays: string;

  /** The namespace lets several platforms (or tests) share a broker. */
  constructor(private readonly namespace: string) {
    this.events = `${namespace}.events`;
    this.deadLetters = `${namespace}.dead-letters`;
    this.replays = `${namespace}.replays`;
  }

  eventQueue(service: string): string {
    return `${this.namespace}.${service}.events`;
  }
  pastQueue(service: string): string {
    return `${this.namespace}.${service}.past`;
  }
  deadLetterQueue(service: string): string {
    return `${this.namespace}.${service}.dead-letters`;
  }
  replayQueue(service: string): string {
    return `${this.namespace}.${service}.replays`;
  }
  /**
   * A publisher does not know the names of its consumers, and a queue that refuses a message is not named either. So each
   * service has one of a fixed number of addresses, which a publisher can go through. Two services with the same one share
   * their trouble, and nothing else.
   */
  slotOf(service: string): number {
    return createHash('sha256').update(service).digest().readUInt32BE() % SLOTS;
  }
  get slots(): readonly number[] {
    return Array.from({ length: SLOTS }, (_, slot) => slot);
  }
  /** Routing key of an event for one slot alone. */
  addressed(type: string, slot: number): string {
    return `${type}.to.${slot}`;
  }
  commandQueue(command: string): string {
    return `${this.namespace}.commands.${command}`;
  }

  async declareExchanges(channel: Channel): Promise<void> {
    await channel.assertExchange(this.events, 'topic', { durable: true });
    await channel.assertExchange(this.deadLetters, 'direct', { durable: true });
    await channel.assertExchange(this.replays, 'direct', { durable: true });
  }

  /** The queue of a consuming service, bound to exactly its types as far as is known. */
  async declareConsumer(channel: Channel, { name, types, formerTypes = new Set() }: Subscriber): Promise<string> {
    await this.declareExchanges(channel);
    await this.declareDeadLetters(channel, name);
    const queue = this.eventQueue(name);
    await channel.assertQueue(queue, { durable: true, arguments: this.eventsArguments(name, EVENTS_MAX) });
    const slot = this.slotOf(name);
    const keysOf = (bound: ReadonlySet<string>): string[] =>
      [...bound].flatMap((type) => [type, this.addressed(type, slot)]);
    for (const key of [...keysOf(types), this.addressed(PROBE, slot)]) await channel.bindQueue(queue, this.events, key);
    for (const key of keysOf(formerTypes)) await channel.unbindQueue(queue, this.events, key);
    return queue;
  }

  /**
   * What a service asked for of the past, in a queue of its own: however much it is, what happens now waits behind none of
   * it and fills no queue with it. One replica reads it at a time, and those after it only what it has not acknowledged, so
   * that the message behind the last event is read when all before it have had their effect.
   */
  async declarePast(channel: Channel, service: string): Promise<string> {
    await this.declareExchanges(channel);
    await this.declareDeadLetters(channel, service);
    const queue = this.pastQueue(service);
    await channel.assertQueue(queue, {
      durable: true,
      arguments: { ...this.eventsArguments(service, PAST_MAX), 'x-single-active-consumer': true },
    });
    return queue;
  }

  private async declareDeadLetters(channel: Channel, service: string): Promise<void> {
    const queue = this.deadLetterQueue(service);
    await channel.assertQueue(queue, {
      durable: true,
      arguments: { 'x-queue-type': 'quorum', 'x-max-length': DEAD_LETTERS_MAX },
    });
    await channel.bindQueue(queue, this.deadLetters, service);
  }

  private eventsArguments(service: string, lengthMax: number): Record<string, unknown> {
    return {
      'x-queue-type': 'quorum',
      'x-delivery-limit': DELIVERY_LIMIT,
      'x-max-length': lengthMax,
      // A full queue refuses: the events stay in the log of whoever publishes them, and that is logged.
      'x-overflow': 'reject-publish',
      'x-dead-letter-exchange': this.deadLetters,
      'x-dead-letter-routing-key': service,
      'x-dead-letter-strategy': 'at-least-once',
    };
  }

  async declareReplays(channel: Channel, service: string): Promise<string> {
    await this.declareExchanges(channel);
    const queue = this.replayQueue(service);
    await channel.assertQueue(queue, {
      durable: true,
      arguments: { 'x-queue-type': 'quorum', 'x-max-length': REPLAY_REQUESTS_MAX, 'x-overflow': 'reject-publish' },
    });
    return queue;
  }

  /**
   * Requests carry encrypted card data, so they must not reach a disk: a classic queue and messages that are not
   * persistent, gone with the last who answers. Durable as a queue, because RabbitMQ 4.3 refuses shared queues that
   * are not; that makes its messages no more durable. No x-queue-mode and no x-queue-version, which 4.3 refuses too.
   */
  async declareCommand(channel: Channel, command: string): Promise<string> {
    const queue = this.commandQueue(command);
    await channel.assertQueue(queue, {
      durable: true,
      autoDelete: true,
      arguments: { 'x-expires': COMMAND_QUEUE_IDLE_MS, 'x-max-length': REQUESTS_MAX, 'x-overflow': 'reject-publish' },
    });
    return queue;
  }
}

/**
 * After so many deliveries that were never acknowledged a message is taken to end the process that reads it. 20 is
 * the default of RabbitMQ 4; 3.10 has none. 3.10 counts every requeue, 4.3 only rejections and lost channels: this
 * code never requeues but by losing its channel, so the two agree. Failing handlers do not come here: the consumer
 * keeps their messages in a table of its own.
 */
const DELIVERY_LIMIT = 20;
const EVENTS_MAX = 1_000_000;
/** The publisher waits while so many are unread: a log of ten million events must fit into no broker. */
const PAST_MAX = 100_000;
const DEAD_LETTERS_MAX = 100_000;
const REPLAY_REQUESTS_MAX = 10_000;
/** Requests waiting for a free replica; more than this cannot be answered before their deadline. */
const REQUESTS_MAX = 1_000;
/** After a restart of the broker the queue is there before those who answer; left alone it goes. */
const COMMAND_QUEUE_IDLE_MS = 60_000;
