import { randomUUID } from 'node:crypto';
import type { Channel, ChannelModel } from 'amqplib';
import type { Subscriber } from '../broker/broker.js';
import { DEAD_LETTERS_ARGUMENTS, PROBE, RabbitMqNames } from '../routing/rabbitmq-names.js';

/**
 * Every exchange and queue on the broker; no other file declares any. Each user of a queue declares it on each connection:
 * declaring an existing queue changes nothing. A declaration cannot change the arguments of an existing queue (406 in the log):
 * give it another name, or use a policy. Names are in `rabbitmq-names.ts`, with the permissions of each service's user. That
 * user may not configure exchanges and dead-letter queues: an administrator imports them, and this class declares them only
 * where they are missing.
 *
 *   svc.events        topic, routing key = type of the event, `.to.<slot>` for one consuming service alone, and for a
 *                     payment `.from.<source>.<page|partner>`
 *     → svc.<service>.events         quorum; one for each consuming service, shared by its replicas
 *   svc.past          topic, routing key = service and type
 *     → svc.<service>.past           quorum, read by one replica at a time: replayed events
 *   svc.dead-letters  direct, routing key = service
 *     → svc.<service>.dead-letters   unreadable messages, and those that ended their process 20 times
 *   svc.replays       direct, routing key = type of the event
 *     → svc.<service>.replays        quorum; replay requests, bound for each type that the service has published
 *   svc.commands      topic, routing key = command
 *     → svc.commands.<command>       classic; requests under way, never on disk
 *   svc.replies       topic, routing key = name of the queue
 *     → svc.<service>.replies.<id>   classic, exclusive to one connection
 */
export class Topology extends RabbitMqNames {
  private readonly declared = new WeakMap<ChannelModel, Promise<void>>();

  /** Resolves when all exchanges exist; once for each connection. */
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

  /** The queue of a consuming service, bound to its present types; bindings to a former origin remain. */
  async declareConsumer(channel: Channel, model: ChannelModel, subscriber: Subscriber): Promise<string> {
    const { name, types, origins, formerTypes = new Set() } = subscriber;
    await this.declareDeadLetters(model, name);
    const queue = this.eventQueue(name);
    await channel.assertQueue(queue, { durable: true, arguments: this.eventsArguments(name, MAX_QUEUED_EVENTS) });
    const slot = this.slotOf(name);
    const keys = [...types].flatMap((type) => this.bindingKeys(type, slot, origins?.get(type)));
    for (const key of [...keys, this.addressed(PROBE, slot)]) await channel.bindQueue(queue, this.events, key);
    // A type was bound as a whole before its consumer restricted it to an origin.
    const narrowed = [...types].filter((type) => origins?.has(type));
    const former = [...narrowed, ...formerTypes].flatMap((type) => this.bindingKeys(type, slot));
    // The service may have lost the permission for a type together with the type: events that still arrive are deferred.
    await succeeds(model, async (own) => {
      for (const key of former) await own.unbindQueue(queue, this.events, key);
    });
    return queue;
  }

  /**
   * Replayed events have a queue of their own: a replay of any length neither delays current events nor fills their queue. One
   * replica reads it at a time, and the next one only the events that were not acknowledged. So when the message after the last
   * event is read, all events before it have had their effect.
   */
  async declarePast(channel: Channel, model: ChannelModel, service: string): Promise<string> {
    await this.declareDeadLetters(model, service);
    const queue = this.pastQueue(service);
    await channel.assertQueue(queue, {
      durable: true,
      arguments: { ...this.eventsArguments(service, MAX_QUEUED_REPLAY_EVENTS), 'x-single-active-consumer': true },
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

  private eventsArguments(service: string, maxLength: number): Record<string, unknown> {
    return {
      'x-queue-type': 'quorum',
      'x-delivery-limit': DELIVERY_LIMIT,
      'x-max-length': maxLength,
      // A full queue rejects events: they stay in the log of their publisher, which logs it.
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
      arguments: {
        'x-queue-type': 'quorum',
        'x-max-length': MAX_QUEUED_REPLAY_REQUESTS,
        'x-overflow': 'reject-publish',
      },
    });
    return queue;
  }

  /**
   * Requests carry encrypted card data, so they must not reach a disk: a classic queue and messages that are not persistent,
   * deleted with the last consumer. The queue is durable because RabbitMQ 4.3 rejects shared queues that are not; that makes no
   * message durable. No x-queue-mode and no x-queue-version, which 4.3 rejects too.
   */
  async declareCommand(channel: Channel, command: string): Promise<string> {
    const queue = this.commandQueue(command);
    await channel.assertQueue(queue, {
      durable: true,
      autoDelete: true,
      arguments: {
        'x-expires': COMMAND_QUEUE_IDLE_MS,
        'x-max-length': MAX_QUEUED_REQUESTS,
        'x-overflow': 'reject-publish',
      },
    });
    await channel.bindQueue(queue, this.commands, command);
    return queue;
  }

  /** Replies to one process, deleted with its connection. */
  async declareReplies(channel: Channel, service: string): Promise<string> {
    const queue = this.replyQueue(service, randomUUID());
    await channel.assertQueue(queue, { exclusive: true, durable: false, autoDelete: true });
    await channel.bindQueue(queue, this.replies, queue);
    return queue;
  }
}

/** Whether the broker accepted all of it; on a channel of its own, which a rejection closes. */
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
 * A message that was delivered so often without an acknowledgement is assumed to end the process that reads it. 20 is the
 * default of RabbitMQ 4; 3.10 has none. 3.10 counts every requeue, 4.3 only rejections and lost channels: this code only
 * requeues by losing its channel, so both count the same. Messages of failing handlers do not get here: the consumer stores
 * them in a table of its own.
 */
const DELIVERY_LIMIT = 20;
const MAX_QUEUED_EVENTS = 1_000_000;
/** The publisher waits while so many messages are unread: a log of ten million events must not fill the broker. */
const MAX_QUEUED_REPLAY_EVENTS = 100_000;
const MAX_QUEUED_REPLAY_REQUESTS = 10_000;
/** Requests waiting for a free replica; more could not be answered before their deadline. */
const MAX_QUEUED_REQUESTS = 1_000;
/** After a restart of the broker the queue exists before its consumers; without any it is deleted after this. */
const COMMAND_QUEUE_IDLE_MS = 60_000;
