import { randomUUID } from 'node:crypto';
import type { Channel, ChannelModel } from 'amqplib';
import type { Subscriber } from '../broker/broker.js';
import { DEAD_LETTERS_ARGUMENTS, PROBE, RabbitMqNames } from '../routing/rabbitmq-names.js';

/**
 * Declares every exchange and queue on the broker. No other file declares exchanges or queues. On each connection, a
 * process declares the queues that it uses. The declaration of an existing queue changes nothing. A declaration with
 * other arguments fails with error 406. To change the arguments, use a new queue name or a policy. The names and the
 * permissions of each service's user are in `rabbitmq-names.ts`. That user may not configure exchanges and dead-letter
 * queues. An administrator imports their definitions, and this class declares them only if they are missing.
 *
 *   svc.events        topic, routing key = type of the event, then `.to.<partition>` if the message is for the
 *                     consuming services of one routing partition only (a number from a hash of the service name),
 *                     then `.from.<source>.<page|partner>` if it is an event of a payment
 *     → svc.<service>.events         quorum, one queue for each consuming service, consumed by all its replicas
 *   svc.replayed-events  topic, routing key = service and type
 *     → svc.<service>.replayed-events  quorum, consumed by one replica at a time
 *   svc.dead-letters  direct, routing key = service
 *     → svc.<service>.dead-letters   unreadable messages, and messages after 20 deliveries without acknowledgement
 *   svc.replays       direct, routing key = type of the event
 *     → svc.<service>.replays        quorum, for replay requests, bound for each type that the service has published
 *   svc.commands      topic, routing key = command, then the id of a replica, or `all`
 *     → svc.commands.<command>.<id>  classic, exclusive to the connection of one replica, never written to disk
 *   svc.replies       topic, routing key = name of the queue
 *     → svc.<service>.replies.<id>   classic, exclusive to one connection
 */
export class Topology extends RabbitMqNames {
  private readonly declared = new WeakMap<ChannelModel, Promise<void>>();

  /** Declares all exchanges, once for each connection, or again after a failure. Resolves when they exist. */
  declareExchanges(model: ChannelModel): Promise<void> {
    const earlier = this.declared.get(model);
    if (earlier) return earlier;
    const declaring = this.declareMissingExchanges(model);
    this.declared.set(model, declaring);
    declaring.catch(() => this.declared.delete(model));
    return declaring;
  }

  private async declareMissingExchanges(model: ChannelModel): Promise<void> {
    const names = [...this.exchanges.keys()];
    const checkAll = async (channel: Channel): Promise<void> => {
      for (const name of names) await channel.checkExchange(name);
    };
    if (await succeeds(model, checkAll)) return;
    const channel = await model.createChannel();
    channel.on('error', () => undefined);
    for (const [name, type] of this.exchanges) await channel.assertExchange(name, type, { durable: true });
    await channel.close();
  }

  /** Declares the queue of a consuming service. {@link bindConsumer} binds it to the types. */
  async declareConsumer(channel: Channel, model: ChannelModel, { name }: Subscriber): Promise<string> {
    await this.declareDeadLetters(model, name);
    const queue = this.eventQueue(name);
    await channel.assertQueue(queue, { durable: true, arguments: this.eventsArguments(name, MAX_QUEUED_EVENTS) });
    await channel.bindQueue(queue, this.events, this.partitionKey(PROBE, this.partitionOf(name)));
    return queue;
  }

  /**
   * Binds the queue of a consuming service to these types. Earlier bindings to other origins remain.
   * Returns the types whose bindings the broker refuses: one of them must not stop the other events.
   */
  async bindConsumer(
    model: ChannelModel,
    { name, origins, formerTypes = new Set() }: Subscriber,
    types: ReadonlySet<string>,
  ): Promise<Set<string>> {
    const queue = this.eventQueue(name);
    const partition = this.partitionOf(name);
    const bind = async (channel: Channel, type: string): Promise<void> => {
      const keys = this.bindingKeys(type, partition, origins?.get(type));
      for (const key of keys) await channel.bindQueue(queue, this.events, key);
    };
    const refused = new Set<string>();
    const areAllBound = await succeeds(model, async (channel) => {
      for (const type of types) await bind(channel, type);
    });
    if (!areAllBound)
      for (const type of types) if (!(await succeeds(model, (channel) => bind(channel, type)))) refused.add(type);
    // This fails if the service no longer has the permission for a former type. Events of that type then still arrive
    // and are deferred.
    for (const type of formerTypes)
      await succeeds(model, async (channel) => {
        for (const key of this.bindingKeys(type, partition)) await channel.unbindQueue(queue, this.events, key);
      });
    return refused;
  }

  /**
   * Declares the queue of replayed events. This queue is separate, so that a long replay does not delay current events
   * and does not fill their queue. Only one replica consumes the queue at a time, and the next replica receives only
   * unacknowledged messages. So when a replica reads the message about the end of a replay, all events before that
   * message have been handled.
   */
  async declareReplayedEvents(channel: Channel, model: ChannelModel, service: string): Promise<string> {
    await this.declareDeadLetters(model, service);
    const queue = this.replayedEventQueue(service);
    await channel.assertQueue(queue, {
      durable: true,
      arguments: { ...this.eventsArguments(service, MAX_QUEUED_REPLAY_EVENTS), 'x-single-active-consumer': true },
    });
    await channel.bindQueue(queue, this.replayedEvents, `${service}.#`);
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
      // A full queue rejects events. They stay in the event log of their publisher, and its relay logs a warning.
      'x-overflow': 'reject-publish',
      'x-dead-letter-exchange': this.deadLetters,
      'x-dead-letter-routing-key': service,
      'x-dead-letter-strategy': 'at-least-once',
    };
  }

  async declareReplayRequests(channel: Channel, service: string): Promise<string> {
    const queue = this.replayRequestQueue(service);
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
   * Declares the queue of one replica for the requests of a command. The queue is exclusive, so it is on the node that
   * the replica is connected to, and is deleted with the connection. Requests contain encrypted card data, so they must
   * not be written to disk: the queue is classic and not durable, its messages are not persistent, and it has no
   * dead-letter exchange. It is short, because RabbitMQ 4 keeps only about 2 000 messages of a queue in memory.
   */
  async declareCommand(channel: Channel, command: string, replica: string): Promise<string> {
    const queue = this.commandQueue(command, replica);
    await channel.assertQueue(queue, {
      exclusive: true,
      durable: false,
      // Deletes the queue with its consumer, even if the connection stays open.
      autoDelete: true,
      arguments: {
        // Deletes the queue if its consumer never started.
        'x-expires': COMMAND_QUEUE_IDLE_MS,
        'x-max-length': MAX_QUEUED_REQUESTS,
        // The requester then chooses another replica.
        'x-overflow': 'reject-publish',
      },
    });
    return queue;
  }

  /** Routes requests to the queue of a replica. Call this when the replica consumes the queue. */
  async bindCommand(channel: Channel, command: string, replica: string): Promise<void> {
    const queue = this.commandQueue(command, replica);
    for (const key of this.commandKeysOf(command, replica)) await channel.bindQueue(queue, this.commands, key);
  }

  /** Ends the routing of new requests to the queue. */
  async unbindCommand(channel: Channel, command: string, replica: string): Promise<void> {
    const queue = this.commandQueue(command, replica);
    for (const key of this.commandKeysOf(command, replica)) await channel.unbindQueue(queue, this.commands, key);
  }

  private commandKeysOf(command: string, replica: string): string[] {
    return [this.commandKey(command, replica), this.commandKey(command)];
  }

  /** Declares the queue for the replies to one process. It is deleted with the connection. */
  async declareReplies(channel: Channel, service: string): Promise<string> {
    const queue = this.replyQueue(service, randomUUID());
    await channel.assertQueue(queue, { exclusive: true, durable: false, autoDelete: true });
    await channel.bindQueue(queue, this.replies, queue);
    return queue;
  }
}

/**
 * Runs `declare` on a separate channel, because the broker closes a channel when it rejects a call. Resolves to false
 * if the broker rejected the call.
 */
export async function succeeds(model: ChannelModel, declare: (channel: Channel) => Promise<unknown>): Promise<boolean> {
  const channel = await model.createChannel();
  channel.on('error', () => undefined);
  try {
    await declare(channel);
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
 * After this number of deliveries without an acknowledgement, a message is dead-lettered, because it probably crashes
 * the process that handles it. 20 is the default of RabbitMQ 4. RabbitMQ 3.10 has no default. 3.10 counts every
 * requeue, and 4.3 counts rejections and lost channels. This code requeues messages only when its channel is closed or
 * lost, so the counts of both versions are equal. If only the handler of a message fails, the consumer stores the
 * message in its table of dead letters instead.
 */
const DELIVERY_LIMIT = 20;
const MAX_QUEUED_EVENTS = 1_000_000;
/**
 * When the queue has this number of messages, the publisher waits, because a replay of millions of events must not fill
 * the broker.
 */
const MAX_QUEUED_REPLAY_EVENTS = 100_000;
const MAX_QUEUED_REPLAY_REQUESTS = 10_000;
/** Maximum number of requests that wait for a replica. Further requests could not be handled before their deadline. */
export const MAX_QUEUED_REQUESTS = 1_000;
const COMMAND_QUEUE_IDLE_MS = 60_000;
