import { randomUUID } from 'node:crypto';
import type { Channel, ChannelModel } from 'amqplib';
import type { Subscriber } from '../broker/broker.js';
import { DEAD_LETTERS_ARGUMENTS, PROBE, RabbitMqNames } from '../routing/rabbitmq-names.js';

/**
 * Every exchange and queue there is on the broker, and the only place that declares them. Whoever needs one declares
 * it, each time it connects: declaring what exists changes nothing. The arguments of a queue that exists cannot be
 * changed by a declaration (406, seen in the log): give it another name, or use a policy. Names are in
 * `rabbitmq-names.ts`, with the permissions that each service's user has. A service's user may not configure exchanges
 * and dead-letter queues: an administrator imports them, and they are declared here only where nobody has.
 *
 *   svc.events        topic, routing key = type of the event, `.to.<slot>` for one consuming service alone, and for a
 *                     payment `.from.<source>.<page|partner>`
 *     → svc.<service>.events         quorum; one for each consuming service, shared by its replicas
 *   svc.past          topic, routing key = service and type
 *     → svc.<service>.past           quorum, read by one replica at a time: what the service asked to be told again
 *   svc.dead-letters  direct, routing key = service
 *     → svc.<service>.dead-letters   what cannot be read, and what ended its process 20 times
 *   svc.replays       direct, routing key = type of the event
 *     → svc.<service>.replays        quorum; requests for the past, bound for each type the service has published
 *   svc.commands      topic, routing key = command
 *     → svc.commands.<command>       classic; requests under way, never on disk
 *   svc.replies       topic, routing key = name of the queue
 *     → svc.<service>.replies.<id>   classic, exclusive to one connection
 */
export class Topology extends RabbitMqNames {
  private readonly declared = new WeakMap<ChannelModel, Promise<void>>();

  /** Resolves when all exchanges are there; once for each connection. */
  declareExchanges(model: ChannelModel): Promise<void> {
    const known = this.declared.get(model);
    if (known) return known;
    const declaring = this.declareMissingExchanges(model);
    this.declared.set(model, declaring);
    return declaring;
  }

  private async declareMissingExchanges(model: ChannelModel): Promise<void> {
    const names = [...this.exchanges.keys()];
    const exist = async (channel: Channel): Promise<void> => {
      for (const name of names) await channel.checkExchange(name);
    };
    if (await succeeds(model, exist)) return;
    const channel = await model.createChannel();
    channel.on('error', () => undefined);
    for (const [name, type] of this.exchanges) await channel.assertExchange(name, type, { durable: true });
    await channel.close();
  }

  /** The queue of a consuming service, bound to exactly its types as far as is known; keys of a former origin stay bound. */
  async declareConsumer(channel: Channel, model: ChannelModel, subscriber: Subscriber): Promise<string> {
    const { name, types, origins, formerTypes = new Set() } = subscriber;
    await this.declareDeadLetters(model, name);
    const queue = this.eventQueue(name);
    await channel.assertQueue(queue, { durable: true, arguments: this.eventsArguments(name, EVENTS_MAX) });
    const slot = this.slotOf(name);
    const keys = [...types].flatMap((type) => this.bindingKeys(type, slot, origins?.get(type)));
    for (const key of [...keys, this.addressed(PROBE, slot)]) await channel.bindQueue(queue, this.events, key);
    // A type was bound as a whole before its consumer said which part of it it wants.
    const narrowed = [...types].filter((type) => origins?.has(type));
    const former = [...narrowed, ...formerTypes].flatMap((type) => this.bindingKeys(type, slot));
    // The service may have lost the permission for a type together with the type: what still comes is deferred.
    await succeeds(model, async (own) => {
      for (const key of former) await own.unbindQueue(queue, this.events, key);
    });
    return queue;
  }

  /**
   * What a service asked for of the past, in a queue of its own: however much it is, what happens now waits behind none of
   * it and fills no queue with it. One replica reads it at a time, and those after it only what it has not acknowledged, so
   * that the message behind the last event is read when all before it have had their effect.
   */
  async declarePast(channel: Channel, model: ChannelModel, service: string): Promise<string> {
    await this.declareDeadLetters(model, service);
    const queue = this.pastQueue(service);
    await channel.assertQueue(queue, {
      durable: true,
      arguments: { ...this.eventsArguments(service, PAST_MAX), 'x-single-active-consumer': true },
    });
    await channel.bindQueue(queue, this.past, `${service}.#`);
    return queue;
  }

  private async declareDeadLetters(model: ChannelModel, service: string): Promise<void> {
    const queue = this.deadLetterQueue(service);
    if (await succeeds(model, (channel) => channel.checkQueue(queue))) return;
    const channel = await model.createChannel();
    channel.on('error', () => undefined);
    await channel.assertQueue(queue, { durable: true, arguments: DEAD_LETTERS_ARGUMENTS });
    await channel.bindQueue(queue, this.deadLetters, service);
    await channel.close();
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
    await channel.bindQueue(queue, this.commands, command);
    return queue;
  }

  /** Answers to one process, gone with its connection. */
  async declareReplies(channel: Channel, service: string): Promise<string> {
    const queue = this.replyQueue(service, randomUUID());
    await channel.assertQueue(queue, { exclusive: true, durable: false, autoDelete: true });
    await channel.bindQueue(queue, this.replies, queue);
    return queue;
  }
}

/** Whether the broker refused none of it; on a channel of its own, which a refusal closes. */
async function succeeds(model: ChannelModel, work: (channel: Channel) => Promise<unknown>): Promise<boolean> {
  const channel = await model.createChannel();
  channel.on('error', () => undefined);
  try {
    await work(channel);
  } catch (error) {
    if (REFUSALS.includes(Number((error as { code?: unknown }).code))) return false;
    throw error;
  }
  await channel.close();
  return true;
}

/** Reply codes of AMQP: access refused, not found. */
const REFUSALS: readonly number[] = [403, 404];

/**
 * After so many deliveries that were never acknowledged a message is taken to end the process that reads it. 20 is
 * the default of RabbitMQ 4; 3.10 has none. 3.10 counts every requeue, 4.3 only rejections and lost channels: this
 * code never requeues but by losing its channel, so the two agree. Failing handlers do not come here: the consumer
 * keeps their messages in a table of its own.
 */
const DELIVERY_LIMIT = 20;
const EVENTS_MAX = 1_000_000;
/** The publisher waits while so many messages are unread: a log of ten million events must fit into no broker. */
const PAST_MAX = 100_000;
const REPLAY_REQUESTS_MAX = 10_000;
/** Requests waiting for a free replica; more than this cannot be answered before their deadline. */
const REQUESTS_MAX = 1_000;
/** After a restart of the broker the queue is there before those who answer; left alone it goes. */
const COMMAND_QUEUE_IDLE_MS = 60_000;
