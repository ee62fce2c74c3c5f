import { randomInt } from 'node:crypto';
import type { EventEnvelope } from '@svc/contracts';
import { withDeadline } from '@svc/kernel';
import type { ConsumeMessage } from 'amqplib';
import {
  type Broker,
  type BrokerConnection,
  type EventReplay,
  type RelayTarget,
  type Responder,
  type Subscriber,
  type Subscription,
  TypesRefusedError,
  type UnattachedQueue,
} from '../broker/broker.js';
import { Refusals } from '../broker/refusals.js';
import type { MessagingLog } from '../log.js';
import { isPowerOfTwo } from '../numbers.js';
import { originOf } from '../routing/event-origin.js';
import { parseBrokerUrls, PROBE } from '../routing/rabbitmq-names.js';
import { type Attachment, Attachments } from './rabbitmq-attachments.js';
import { BrokerNodes, RabbitMqConnection } from './rabbitmq-connection.js';
import { QueueConsumer, type QueueReaderSettings } from './rabbitmq-consumer.js';
import { RabbitMqDeadLetters } from './rabbitmq-dead-letters.js';
import { parseEvents, parseReplayRequest, replayedType } from './rabbitmq-messages.js';
import { type DeclaredMessages, PermissionWatch, PublishPermissions } from './rabbitmq-permissions.js';
import {
  BrokerUnavailableError,
  eventMessages,
  type EventRoute,
  newProbe,
  type OutgoingMessage,
  RabbitMqPublisher,
  replayRequestMessage,
  throwIfRefused,
} from './rabbitmq-publisher.js';
import { Topology } from './rabbitmq-topology.js';
import { RabbitMqRequests } from './requests/rabbitmq-requests.js';
import { RabbitMqResponder, type SendReply } from './requests/rabbitmq-responder.js';

interface RabbitMqSettings {
  /**
   * `amqp://user:password@host:port/vhost`, or `amqps://`. For a cluster: one URL for each node, separated by commas,
   * with the same user. The URLs are secrets.
   */
  readonly url: string;
  /** The service of this process. */
  readonly service: string;
  readonly log: MessagingLog;
  /** Maximum number of events in one message, 50 by default. Tests that count messages set it to 1. */
  readonly eventsPerMessage?: number;
  /** The event types and commands that the service publishes and sends, according to `SERVICE_MESSAGES`. */
  readonly messages?: DeclaredMessages;
  /** Prefix of every exchange and queue. */
  readonly namespace?: string;
}

/**
 * Name of the relay's cursor. One cursor is enough, because the broker itself tracks the deliveries to each consumer.
 */
const TARGET = 'rabbitmq';
/**
 * How many batches may be unconfirmed at the same time. The relay does not wait for each confirmation, because a
 * confirmation lasts as long as a disk write of the broker.
 */
const UNCONFIRMED_BATCHES = 4;
/** All events of a message are handled in one batch, so their number is limited. */
const MAX_EVENTS_PER_MESSAGE = 50;
/** Longest time that a start waits for the first check of the permissions. */
const FIRST_CHECK_WAIT_MS = 5_000;
/** This timeout is short, so that metrics are collected even if the broker does not respond. */
const METRICS_TIMEOUT_MS = 1_000;

/**
 * The broker for services in separate processes: RabbitMQ 3.10 or later. The relay has one target, which publishes to
 * the exchange of events. A batch is delivered when the broker has confirmed every message and no queue has rejected a
 * message. Publishing and consuming use separate connections, because a broker that is short of memory stops reading
 * from publishers. Requests have a connection of their own: in a partition, the connection for publishing moves to
 * another node, but no queue for replies can be declared there until the cluster has detected the partition.
 */
export class RabbitMqBroker implements Broker {
  private readonly topology: Topology;
  private readonly publishing: RabbitMqConnection;
  /** For requests and replies. */
  private readonly requesting: RabbitMqConnection;
  private readonly consuming: RabbitMqConnection;
  private readonly publisher: RabbitMqPublisher;
  private readonly requests: RabbitMqRequests;
  readonly deadLetters: RabbitMqDeadLetters;
  private readonly attachments: Attachments;
  private readonly openedAt = performance.now();
  private readonly refusals: Refusals;
  private readonly permissions: PublishPermissions;
  private readonly permissionWatch: PermissionWatch;
  /** Number of messages without a bound queue, by type. */
  private readonly unroutable = new Map<string, number>();

  private readonly target: RelayTarget = {
    name: TARGET,
    window: UNCONFIRMED_BATCHES,
    deliver: async (events) => {
      await this.requirePermissions(events.map(({ type }) => type));
      await this.publishAll(this.eventMessages(events));
    },
    consumerTargets: () => this.findConsumerTargets(),
  };

  readonly connection: BrokerConnection = this.connectionState();

  readonly eventReplay: EventReplay = {
    isRequired: true,
    request: (request) => this.isRouted([replayRequestMessage(this.topology.replayRequests, request)]),
    serveRequests: (accept) =>
      this.consume({
        queue: this.topology.replayRequestQueue(this.settings.service),
        declare: (channel) => this.topology.declareReplayRequests(channel, this.settings.service),
        parse: (message) => [parseReplayRequest(message, this.topology)],
        handle: async (requests) => {
          for (const request of requests) await accept(request);
        },
      }),
    deliver: async (service, events) => {
      await this.requirePermissions(events.map(replayedType));
      const { replayedEvents: exchange } = this.topology;
      const routeOf = (event: EventEnvelope): EventRoute => {
        return { exchange, routingKey: this.topology.replayedEventKey(service, replayedType(event)) };
      };
      // Each message contains one event, because the maximum length of the queue is a number of messages, and a replay
      // may contain the whole log.
      return this.isRouted(eventMessages(events, routeOf, 1));
    },
  };

  constructor(private readonly settings: RabbitMqSettings) {
    const { url, service, log, namespace = 'svc' } = settings;
    this.topology = new Topology(namespace);
    const urls = parseBrokerUrls(url);
    const nodes = new BrokerNodes(shuffled(urls));
    this.publishing = new RabbitMqConnection({
      nodes,
      name: `${service}, publishing`,
      log,
      setUp: async (model) => {
        this.permissions.forget();
        await this.publisher.setUp(model);
        this.permissionWatch.trigger();
      },
    });
    this.requesting = new RabbitMqConnection({
      nodes,
      name: `${service}, requests`,
      log,
      setUp: async (model) => {
        this.permissions.forget();
        await this.topology.declareExchanges(model);
        await this.requests.setUp(model);
      },
    });
    this.consuming = new RabbitMqConnection({
      nodes,
      name: `${service}, consuming`,
      log,
      setUp: (model) => this.attachments.attachAll(model),
    });
    this.attachments = new Attachments(this.consuming, this.topology, log);
    const user = userNameOf(urls[0]!);
    this.refusals = new Refusals(log);
    this.permissions = new PublishPermissions(this.topology, service, this.refusals);
    this.publisher = new RabbitMqPublisher(this.publishing, this.topology, user, () => this.permissions.forget());
    this.deadLetters = new RabbitMqDeadLetters(this.consuming, this.topology, user, log);
    this.requests = new RabbitMqRequests(this.requesting, this.topology, service, (model, command) =>
      this.permissions.maySend(model, command),
    );
    const { publishing, consuming, topology, permissions, refusals } = this;
    const links = { publishing, consuming, topology, permissions, refusals, log };
    this.permissionWatch = new PermissionWatch(links, settings.messages);
    this.publishing.open();
    this.requesting.open();
    this.consuming.open();
  }

  targets(): readonly RelayTarget[] {
    return [this.target];
  }

  watchTargets(): () => void {
    return () => undefined;
  }

  async subscribe(subscriber: Subscriber): Promise<Subscription> {
    const { name, deliver, onBound, onQueueLost, maxBatchWaitMs = 0 } = subscriber;
    const reading = {
      parse: (message: ConsumeMessage) => parseEvents(message, name, this.topology),
      handle: (events: readonly EventEnvelope[]) => deliver(events.filter(({ type }) => type !== PROBE)),
      maxBatchWaitMs,
    };
    this.deadLetters.setReader({ service: name, handle: reading.handle });
    const replayed = await this.consume({
      ...reading,
      queue: this.topology.replayedEventQueue(name),
      declare: (channel, model) => this.topology.declareReplayedEvents(channel, model, name),
      isSingleActive: true,
    });
    const binding = this.permissionWatch.addBinding(subscriber);
    const events = await this.consume({
      ...reading,
      queue: this.topology.eventQueue(name),
      declare: async (channel, model) => {
        // `onBound` requests a replay, which needs the queue of replayed events.
        await this.topology.declareReplayedEvents(channel, model, name);
        await this.topology.declareConsumer(channel, model, subscriber);
        await binding.bindAll(model);
      },
      ...(onBound ? { onAttached: () => onBound(binding.boundTypes) } : {}),
      ...(onQueueLost ? { onQueueLost } : {}),
    });
    return { close: async () => void (await Promise.all([events.close(), replayed.close()])) };
  }

  async respond(command: string, respond: Responder): Promise<Subscription> {
    const reply: SendReply = (...message) => this.requests.reply(...message);
    const responder = new RabbitMqResponder(this.topology, command, respond, reply, this.settings.log);
    await this.attachments.add(responder);
    return { close: () => this.detach(responder) };
  }

  request(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    return this.requests.request(command, payload, timeoutMs);
  }

  /** Closes the connections. The owners of the subscriptions must close them before. */
  async close(): Promise<void> {
    // A check in progress ends with its connection.
    const stopped = this.permissionWatch.stop();
    await this.consuming.close();
    await this.requesting.close();
    await this.publishing.close();
    await stopped;
  }

  /**
   * Resolves when the broker has answered whether this service may publish, send and consume the messages that it
   * declares, or when the broker is unavailable.
   */
  async checkPermissions(): Promise<void> {
    const openMs = performance.now() - this.openedAt;
    const waitMs = this.publishing.current ? FIRST_CHECK_WAIT_MS : Math.max(0, FIRST_CHECK_WAIT_MS - openMs);
    await withDeadline(this.permissionWatch.firstCheck, waitMs, () => undefined).catch(() => undefined);
  }

  private connectionState(): BrokerConnection {
    const missingPermissions = (): readonly string[] => this.permissionWatch.missing;
    const refusals = (): ReadonlyMap<string, boolean> => this.refusals.states;
    const states = (): ('up' | 'unavailable' | 'blocked')[] => [
      this.publishing.state,
      this.requesting.state,
      this.consuming.state,
    ];
    const attachedConsumers = (): QueueConsumer<unknown>[] =>
      this.attachments.all.filter((attachment) => attachment instanceof QueueConsumer);
    const unattached = (): readonly UnattachedQueue[] => this.attachments.unattached;
    return {
      get state() {
        return (['unavailable', 'blocked'] as const).find((state) => states().includes(state)) ?? 'up';
      },
      get missingPermissions() {
        return missingPermissions();
      },
      get refusals() {
        return refusals();
      },
      get unattached() {
        return unattached();
      },
      waiting: async () => {
        const counts = Promise.all(attachedConsumers().map((consumer) => consumer.waiting()));
        const results = await withDeadline(counts, METRICS_TIMEOUT_MS, () => {
          throw new BrokerUnavailableError('The broker did not report its queues in time.');
        });
        return new Map(results.flatMap((result) => (result ? [[result.queue, result.count] as const] : [])));
      },
      deadLetters: () =>
        withDeadline(this.deadLetters.count(), METRICS_TIMEOUT_MS, () => {
          throw new BrokerUnavailableError('The broker did not report its dead letters in time.');
        }),
    };
  }

  private async consume<T>(reader: QueueReaderSettings<T>): Promise<Subscription> {
    const consumer = new QueueConsumer(reader, this.settings.log);
    await this.attachments.add(consumer);
    return { close: () => this.detach(consumer) };
  }

  private async detach(attachment: Attachment & Subscription): Promise<void> {
    this.attachments.remove(attachment);
    await attachment.close();
  }

  /** Throws {@link TypesRefusedError} if the broker does not allow one of the types. */
  private async requirePermissions(types: Iterable<string>): Promise<void> {
    const refused = new Set<string>();
    for (const type of new Set(types))
      if (!(await this.permissions.mayPublish(await this.publisher.usableModel(), type))) refused.add(type);
    if (refused.size > 0) throw new TypesRefusedError(refused);
  }

  /**
   * An event without a consumer only causes a warning in the log and does not block the relay. Its type is announced,
   * so a service that subscribes later can request a replay.
   */
  private async publishAll(messages: readonly OutgoingMessage[]): Promise<void> {
    const outcomes = await this.publisher.publish(messages);
    for (const [i, outcome] of outcomes.entries()) if (outcome === 'unroutable') this.warnUnroutable(messages[i]!);
    throwIfRefused(outcomes);
  }

  private warnUnroutable({ properties }: OutgoingMessage): void {
    const type = String(properties.type);
    const count = (this.unroutable.get(type) ?? 0) + 1;
    this.unroutable.set(type, count);
    if (isPowerOfTwo(count)) this.settings.log.warn({ type, count }, 'broker: event has no consumer yet');
  }

  /** Whether every message was routed to a queue. */
  private async isRouted(messages: readonly OutgoingMessage[]): Promise<boolean> {
    const outcomes = await this.publisher.publish(messages);
    throwIfRefused(outcomes);
    return !outcomes.includes('unroutable');
  }

  /**
   * Returns a separate target for each routing partition that has a queue. A routing partition is a group of consumers:
   * see `RabbitMqNames.partitionOf`.
   */
  private async findConsumerTargets(): Promise<RelayTarget[]> {
    const { topology, publisher } = this;
    const { events: exchange, partitions } = topology;
    const probes = partitions.flatMap((partition) =>
      eventMessages([newProbe()], () => ({ exchange, routingKey: topology.partitionKey(PROBE, partition) }), 1),
    );
    const outcomes = await publisher.publish(probes);
    return partitions
      .filter((partition) => outcomes[partition] !== 'unroutable')
      .map((partition) => this.newConsumerTarget(partition));
  }

  private newConsumerTarget(partition: number): RelayTarget {
    const { publisher } = this;
    return {
      name: `${TARGET}/${partition}`,
      deliver: async (events) => {
        await this.requirePermissions(events.map(({ type }) => type));
        // A message is unroutable if no consumer in this partition consumes its type. This is no error.
        throwIfRefused(await publisher.publish(this.eventMessages(events, partition)));
      },
    };
  }

  /** @param partition undefined for all consumers */
  private eventMessages(events: readonly EventEnvelope[], partition?: number): OutgoingMessage[] {
    const { topology } = this;
    const routeOf = ({ type, payload }: EventEnvelope): EventRoute => {
      const origin = originOf(payload);
      const routingKey =
        partition === undefined ? topology.eventKey(type, origin) : topology.partitionKey(type, partition, origin);
      return { exchange: topology.events, routingKey };
    };
    return eventMessages(events, routeOf, this.settings.eventsPerMessage ?? MAX_EVENTS_PER_MESSAGE);
  }
}

/** The user name in the URL, or amqplib's default. */
function userNameOf(url: string): string {
  const { username } = new URL(url);
  return username === '' ? 'guest' : decodeURIComponent(username);
}

/** A random order, so that the processes are spread over the nodes, also after the loss of a node. */
function shuffled(urls: readonly string[]): string[] {
  const remaining = [...urls];
  return urls.flatMap(() => remaining.splice(randomInt(remaining.length), 1));
}
