import { randomUUID } from 'node:crypto';
import type { ChannelModel, ConsumeMessage } from 'amqplib';
import type { EventEnvelope } from '@svc/contracts';
import {
  type Broker,
  type BrokerConnection,
  ConsumerRefusedError,
  type Past,
  type RelayTarget,
  type ReplayRequest,
  type Responder,
  type Subscriber,
  type Subscription,
} from '../broker/broker.js';
import type { MessagingLog } from '../log.js';
import { RabbitMqConnection } from './rabbitmq-connection.js';
import { type Attachment, QueueConsumer, type QueueReader } from './rabbitmq-consumer.js';
import { RabbitMqDeadLetters } from './rabbitmq-dead-letters.js';
import {
  BrokerAway,
  type EventRoute,
  eventMessages,
  type Outgoing,
  type PublishOutcome,
  RabbitMqPublisher,
  withDeadline,
} from './rabbitmq-publisher.js';
import { RabbitMqRequests, RabbitMqResponder } from './rabbitmq-requests.js';
import { isPowerOfTwo } from '../numbers.js';
import { originOf } from '../routing/event-origin.js';
import { asEvents, asReplayRequest, replayedType } from './rabbitmq-messages.js';
import { type EventOrigin, PROBE } from '../routing/rabbitmq-names.js';
import { Topology } from './rabbitmq-topology.js';

export interface RabbitMqSettings {
  /** `amqp://user:password@host:port/vhost`, or `amqps://`; a secret. */
  readonly url: string;
  /** The service this process is, or is a replica of. */
  readonly service: string;
  readonly log: MessagingLog;
  /** Most events that share a message, 50 unless told: 1 while replicas of a release before ADR 34 read them. */
  readonly eventsPerMessage?: number;
  /** Prefix of every exchange and queue. */
  readonly namespace?: string;
}

/** Name of the one cursor of a relay that publishes: the broker keeps who has been given what. */
const TARGET = 'rabbitmq';
/** An event need not wait for the confirmation of the one before it, which takes the broker a disk's time. */
const UNCONFIRMED_BATCHES = 4;
/** A message is handled as a whole, so that what it holds is bounded like a batch. */
export const EVENTS_PER_MESSAGE_MAX = 50;
/** How long a start waits for the broker. After that it goes on, and joins in when the broker is back. */
const ATTACH_WAIT_MS = 5_000;
/** Metrics are collected whether the broker answers or not. */
const WAITING_MS_MAX = 1_000;

/** Whether and where an attachment has been attached. */
interface Attaching {
  /** Called when it is attached for the first time. */
  readonly attached: () => void;
  model?: ChannelModel;
  work?: Promise<void>;
}

/**
 * Services as processes of their own, over RabbitMQ 3.10 or later. The relay's one target publishes to the exchange
 * of events and takes a batch as handed over when each message is confirmed and none was returned. Publishing and
 * consuming have a connection each: a broker short of memory stops reading from those who publish.
 */
export class RabbitMqBroker implements Broker {
  private readonly topology: Topology;
  private readonly publishing: RabbitMqConnection;
  private readonly consuming: RabbitMqConnection;
  private readonly publisher: RabbitMqPublisher;
  private readonly requests: RabbitMqRequests;
  readonly deadLetters: RabbitMqDeadLetters;
  private readonly attachments = new Map<Attachment, Attaching>();
  private readonly openedAt = Date.now();
  /** Types that others know, by a binding, to have been published by this service. */
  private announced = new Set<string>();
  /** Messages so far that no queue was bound for, by type. */
  private readonly unroutable = new Map<string, number>();

  private readonly live: RelayTarget = {
    name: TARGET,
    window: UNCONFIRMED_BATCHES,
    deliver: async (events) => {
      await this.announce(events);
      await this.publishAll(this.eventMessages(events));
    },
    separately: () => this.consumers(),
  };

  readonly connection: BrokerConnection = this.connectionState();

  readonly past: Past = {
    isMissed: true,
    ask: (request) => this.isRouted([this.replayMessage(request)]),
    answer: (accept) =>
      this.consume({
        declare: (channel) => this.topology.declareReplays(channel, this.settings.service),
        parse: (message) => [asReplayRequest(message, this.topology)],
        handle: async (requests) => {
          for (const request of requests) await accept(request);
        },
      }),
    deliver: async (service, events) => {
      // Requested of a release that accepted any name.
      if (!this.topology.isServiceName(service)) return false;
      const { past: exchange } = this.topology;
      const routeOf = (event: EventEnvelope): EventRoute => {
        return { exchange, routingKey: this.topology.pastKey(service, replayedType(event)) };
      };
      // One alone: the bound of that queue counts messages, and a service may ask for all there ever was.
      return this.isRouted(eventMessages(events, routeOf, 1));
    },
  };

  constructor(private readonly settings: RabbitMqSettings) {
    const { url, service, log, namespace = 'svc' } = settings;
    this.topology = new Topology(namespace);
    this.publishing = new RabbitMqConnection({
      url,
      name: `${service}, publishing`,
      log,
      setUp: async (model) => {
        this.announced = new Set();
        await this.publisher.setUp(model);
        await this.requests.setUp(model);
      },
    });
    this.consuming = new RabbitMqConnection({
      url,
      name: `${service}, consuming`,
      log,
      setUp: async (model) => {
        for (const attachment of this.attachments.keys()) await this.attach(attachment, model);
      },
    });
    const user = userOf(url);
    this.publisher = new RabbitMqPublisher(this.publishing, this.topology, user);
    this.deadLetters = new RabbitMqDeadLetters(this.consuming, this.topology, user, log);
    this.requests = new RabbitMqRequests(this.publishing, this.topology, service);
    this.publishing.open();
    this.consuming.open();
  }

  targets(): readonly RelayTarget[] {
    return [this.live];
  }

  watchTargets(): () => void {
    return () => undefined;
  }

  async subscribe(subscriber: Subscriber): Promise<Subscription> {
    const { name, deliver, bound, lost, gatherMs = 0 } = subscriber;
    const reading = {
      parse: (message: ConsumeMessage) => asEvents(message, name, this.topology),
      handle: (events: readonly EventEnvelope[]) => deliver(events.filter(({ type }) => type !== PROBE)),
      gatherMs,
    };
    this.deadLetters.readBy({ service: name, handle: reading.handle });
    // First: the past is asked for when the events are bound, and has to find its queue.
    const past = await this.consume({
      ...reading,
      declare: (channel, model) => this.topology.declarePast(channel, model, name),
      oneReplica: true,
    });
    const events = await this.consume({
      ...reading,
      declare: (channel, model) => this.topology.declareConsumer(channel, model, subscriber),
      ...(bound ? { attached: bound } : {}),
      ...(lost ? { lost: { queue: this.topology.eventQueue(name), tell: lost } } : {}),
    });
    return { close: async () => void (await Promise.all([events.close(), past.close()])) };
  }

  async respond(command: string, answer: Responder): Promise<Subscription> {
    const reply = (queue: string, correlationId: string, content: Buffer): void =>
      this.requests.reply(queue, correlationId, content);
    const { log } = this.settings;
    const responder = new RabbitMqResponder(this.consuming, this.topology, command, answer, reply, log);
    await this.add(responder);
    return { close: () => this.remove(responder) };
  }

  request(command: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    return this.requests.request(command, payload, timeoutMs);
  }

  /** Lets go of the connections. Subscriptions are closed before, by those who made them. */
  async close(): Promise<void> {
    await this.consuming.close();
    await this.publishing.close();
  }

  private connectionState(): BrokerConnection {
    const states = (): ('up' | 'away' | 'blocked')[] => [this.publishing.state, this.consuming.state];
    const attached = (): QueueConsumer<unknown>[] =>
      [...this.attachments.keys()].filter((attachment) => attachment instanceof QueueConsumer);
    return {
      get state() {
        return (['away', 'blocked'] as const).find((state) => states().includes(state)) ?? 'up';
      },
      waiting: async () => {
        const asked = Promise.all(attached().map((consumer) => consumer.waiting()));
        const known = await withDeadline(asked, WAITING_MS_MAX, () => new BrokerAway('It does not say what waits.'));
        return new Map(known.flatMap((one) => (one ? [[one.queue, one.count] as const] : [])));
      },
      deadLetters: () =>
        withDeadline(this.deadLetters.count(), WAITING_MS_MAX, () => new BrokerAway('It does not count dead letters.')),
    };
  }

  private async consume<T>(reader: QueueReader<T>): Promise<Subscription> {
    const consumer = new QueueConsumer(this.consuming, reader, this.settings.log);
    await this.add(consumer);
    return { close: () => this.remove(consumer) };
  }

  /** Attaches now, or when there is a connection; from then on to each new one. */
  private async add(attachment: Attachment): Promise<void> {
    const first = Promise.withResolvers<void>();
    this.attachments.set(attachment, { attached: first.resolve });
    const model = this.consuming.current;
    if (model) this.attach(attachment, model).catch((error: unknown) => this.consuming.drop(error));
    const late = new BrokerAway('The broker is away.');
    // Once for a whole start, not for each thing that is attached.
    const waitMs = model ? ATTACH_WAIT_MS : Math.max(0, this.openedAt + ATTACH_WAIT_MS - Date.now());
    await withDeadline(first.promise, waitMs, () => late).catch((error: unknown) => {
      this.settings.log.warn({ err: error }, 'broker: unavailable, continuing without it');
    });
  }

  private attach(attachment: Attachment, model: ChannelModel): Promise<void> {
    const attaching = this.attachments.get(attachment);
    if (!attaching) return Promise.resolve();
    if (!attaching.work || attaching.model !== model) {
      attaching.model = model;
      attaching.work = this.topology
        .declareExchanges(model)
        .then(() => attachment.attach(model))
        .then(attaching.attached);
    }
    return attaching.work;
  }

  private async remove(attachment: Attachment & Subscription): Promise<void> {
    this.attachments.delete(attachment);
    await attachment.close();
  }

  /** Before a type is published for the first time: who binds to it later finds out from the broker whom to ask. */
  private async announce(events: readonly EventEnvelope[]): Promise<void> {
    const types = new Set(events.map(({ type }) => type).filter((type) => !this.announced.has(type)));
    if (types.size === 0) return;
    const { announced } = this;
    const channel = await this.publisher.usableChannel();
    const queue = await this.topology.declareReplays(channel, this.settings.service);
    for (const type of types) {
      await channel.bindQueue(queue, this.topology.replays, type);
      announced.add(type);
    }
  }

  /**
   * An event without a consumer is only said, and holds up nothing: its type has been announced, and a service that binds to
   * it later requests all there ever was of it.
   */
  private async publishAll(messages: readonly Outgoing[]): Promise<void> {
    const outcomes = await this.publisher.publish(messages);
    for (const [i, outcome] of outcomes.entries()) if (outcome === 'unroutable') this.warnUnroutable(messages[i]!);
    refuseIf(outcomes);
  }

  private warnUnroutable({ properties }: Outgoing): void {
    const type = String(properties.type);
    const count = (this.unroutable.get(type) ?? 0) + 1;
    this.unroutable.set(type, count);
    if (isPowerOfTwo(count)) this.settings.log.warn({ type, count }, 'broker: event has no consumer yet');
  }

  /** Whether there was a queue for every message. */
  private async isRouted(messages: readonly Outgoing[]): Promise<boolean> {
    const outcomes = await this.publisher.publish(messages);
    refuseIf(outcomes);
    return !outcomes.includes('unroutable');
  }

  /** Each slot that has a queue, as a target of its own. */
  private async consumers(): Promise<RelayTarget[]> {
    const { topology, publisher } = this;
    const probes = topology.slots.flatMap((slot) =>
      eventMessages([aProbe()], () => ({ exchange: topology.events, routingKey: topology.addressed(PROBE, slot) }), 1),
    );
    const outcomes = await publisher.publish(probes);
    return topology.slots.filter((slot) => outcomes[slot] !== 'unroutable').map((slot) => this.consumer(slot));
  }

  private consumer(slot: number): RelayTarget {
    const { publisher } = this;
    return {
      name: `${TARGET}/${slot}`,
      deliver: async (events) => {
        await this.announce(events);
        // Those of types that nobody in the slot is bound to have nowhere to go, which is right.
        refuseIf(await publisher.publish(this.eventMessages(events, slot)));
      },
    };
  }

  /** Under the plain type as well: a consumer of an earlier release is bound to nothing else (ADR 26). */
  private eventMessages(events: readonly EventEnvelope[], slot?: number): Outgoing[] {
    const { topology } = this;
    const keyOf = (type: string, origin?: EventOrigin): string =>
      slot === undefined ? topology.eventKey(type, origin) : topology.addressed(type, slot, origin);
    const routeOf = ({ type, payload }: EventEnvelope): EventRoute => {
      return { exchange: topology.events, routingKey: keyOf(type, originOf(payload)), alsoAs: keyOf(type) };
    };
    return eventMessages(events, routeOf, this.perMessage);
  }

  private get perMessage(): number {
    return this.settings.eventsPerMessage ?? EVENTS_PER_MESSAGE_MAX;
  }

  private replayMessage(request: ReplayRequest): Outgoing {
    return {
      exchange: this.topology.replays,
      routingKey: request.type,
      content: Buffer.from(JSON.stringify(request)),
      properties: { persistent: true, contentType: 'application/json', messageId: request.id, type: 'replay-request' },
    };
  }
}

/** As amqplib reads it. */
function userOf(url: string): string {
  const { username } = new URL(url);
  return username === '' ? 'guest' : decodeURIComponent(username);
}

/** An event in form only: a consumer skips it. */
function aProbe(): EventEnvelope {
  const id = randomUUID();
  const occurredAt = new Date(0).toISOString();
  return { id, type: PROBE, aggregateId: id, aggregateVersion: 1, occurredAt, payload: {} };
}

function refuseIf(outcomes: readonly PublishOutcome[]): void {
  const refused = outcomes.filter((outcome) => outcome === 'refused').length;
  if (refused > 0) throw new ConsumerRefusedError(`A queue refused ${refused} of ${outcomes.length} messages.`);
}
