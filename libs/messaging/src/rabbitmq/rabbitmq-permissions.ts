import { withDeadline } from '@svc/kernel';
import type { Channel, ChannelModel } from 'amqplib';
import type { Subscriber } from '../broker/broker.js';
import type { Refusals } from '../broker/refusals.js';
import type { MessagingLog } from '../log.js';
import { PeriodicJob } from '../periodic-job.js';
import type { RabbitMqConnection } from './rabbitmq-connection.js';
import { BrokerUnavailableError } from './rabbitmq-publisher.js';
import { succeeds, type Topology } from './rabbitmq-topology.js';

/** For this time, a message that was refused is not checked again, because each check opens and loses a channel. */
const REFUSED_FOR_MS = 1_000;
const CHECK_TIMEOUT_MS = 10_000;
/** Pause between two checks of the refused messages. */
const WATCH_PAUSE_MS = 5_000;
const CONNECTION_WAIT_MS = 1_000;
const NOTHING = Buffer.alloc(0);

interface Check {
  readonly result: Promise<boolean>;
  /** performance.now() of the next check. Infinite while the message is allowed. */
  expiresAt: number;
}

/**
 * Finds out which messages this service may publish, before it publishes them. The broker closes the channel on which it refuses a
 * message, and all other messages on that channel are lost with it. Therefore the first message of each type on a
 * connection is preceded by an empty message on a channel of its own, with a routing key that needs the same permission
 * and has no queue.
 */
export class PublishPermissions {
  private readonly checks = new Map<string, Check>();

  constructor(
    private readonly topology: Topology,
    private readonly service: string,
    private readonly refusals: Refusals,
  ) {}

  /** Call this for each new connection, and when the broker has refused a message that was allowed before. */
  forget(): void {
    this.checks.clear();
  }

  /**
   * Whether this service may publish and replay events of the type. Announces the type: binds the queue for replay
   * requests to it, so that later subscribers can request a replay.
   */
  mayPublish(model: ChannelModel, type: string): Promise<boolean> {
    const { topology, service } = this;
    return this.check(`publish ${type}`, model, async (channel) => {
      const queue = await topology.declareReplayRequests(channel, service);
      await channel.bindQueue(queue, topology.replayRequests, type);
      channel.publish(topology.events, topology.unboundEventKey(type), NOTHING);
      channel.publish(topology.replayedEvents, topology.unboundReplayKey(type), NOTHING);
      await channel.checkExchange(topology.events);
    });
  }

  /** Whether this service may send the command. */
  maySend(model: ChannelModel, command: string): Promise<boolean> {
    const { topology } = this;
    return this.check(`send ${command}`, model, async (channel) => {
      channel.publish(topology.commands, topology.unboundCommandKey(command), NOTHING);
      // The broker handles the calls of a channel in their order, so the response follows a refusal.
      await channel.checkExchange(topology.commands);
    });
  }

  private check(
    message: string,
    model: ChannelModel,
    attempt: (channel: Channel) => Promise<unknown>,
  ): Promise<boolean> {
    const earlier = this.checks.get(message);
    if (earlier && performance.now() < earlier.expiresAt) return earlier.result;
    const result = withDeadline(succeeds(model, attempt), CHECK_TIMEOUT_MS, () => {
      throw new BrokerUnavailableError('The broker did not respond to a check of permissions in time.');
    });
    const check: Check = { result, expiresAt: Number.POSITIVE_INFINITY };
    this.checks.set(message, check);
    check.result.then(
      (isAllowed) => {
        if (!isAllowed) check.expiresAt = performance.now() + REFUSED_FOR_MS;
        this.refusals.report(message, isAllowed);
      },
      // The connection was lost, so nothing is known.
      () => (check.expiresAt = 0),
    );
    return check.result;
  }
}

/** The event types that a service publishes and the commands that it sends: see `SERVICE_MESSAGES`. */
export interface DeclaredMessages {
  readonly publishes: readonly string[];
  readonly requests: readonly string[];
}

interface Links {
  readonly publishing: RabbitMqConnection;
  readonly consuming: RabbitMqConnection;
  readonly topology: Topology;
  readonly permissions: PublishPermissions;
  readonly refusals: Refusals;
  readonly log: MessagingLog;
}

/**
 * Checks all messages that the service declares, until the broker has allowed each of them once. Then checks only the
 * messages that the broker refuses. A refused type or command never stops the others.
 */
export class PermissionWatch {
  /** Resolves after the first check of the declared messages. */
  readonly firstCheck: Promise<void>;
  private resolveFirstCheck!: () => void;
  private readonly bindings: Binding[] = [];
  private readonly job: PeriodicJob;
  private isEverythingAllowed = false;

  constructor(
    private readonly links: Links,
    private readonly declared: DeclaredMessages = { publishes: [], requests: [] },
  ) {
    this.firstCheck = new Promise((resolve) => (this.resolveFirstCheck = resolve));
    this.job = new PeriodicJob('broker: check of permissions', WATCH_PAUSE_MS, links.log, async () => {
      await this.check();
      return false;
    });
    this.job.start();
  }

  /** See {@link BrokerConnection.missingPermissions}. */
  get missing(): readonly string[] {
    const { publishing, refusals } = this.links;
    if (this.isEverythingAllowed || publishing.state === 'unavailable') return [];
    return this.declaredMessages().filter((message) => refusals.isRefused(message));
  }

  /** Checks now. Call this for each new connection. */
  trigger(): void {
    this.job.trigger();
  }

  stop(): Promise<void> {
    return this.job.stop();
  }

  addBinding(subscriber: Subscriber): Binding {
    const binding = new Binding(subscriber, this.links);
    this.bindings.push(binding);
    return binding;
  }

  private declaredMessages(): string[] {
    return [
      ...this.declared.publishes.map((type) => `publish ${type}`),
      ...this.declared.requests.map((command) => `send ${command}`),
      ...this.bindings.flatMap(({ subscriber }) => [...subscriber.types].map((type) => `consume ${type}`)),
    ];
  }

  private async check(): Promise<void> {
    const { publishing, consuming, permissions, refusals } = this.links;
    // A blocked broker does not read from this connection.
    if (!(await publishing.isUsableWithin(CONNECTION_WAIT_MS)) || publishing.blockedBecause !== undefined) return;
    const refused = [...refusals.states].flatMap(([message, isRefused]) => (isRefused ? [message] : []));
    const messages = new Set([...refused, ...(this.isEverythingAllowed ? [] : this.declaredMessages())]);
    for (const message of messages) {
      const [action, name] = message.split(' ') as [string, string];
      const model = publishing.current;
      if (!model) return;
      if (action === 'publish') await permissions.mayPublish(model, name);
      else if (action === 'send') await permissions.maySend(model, name);
    }
    if (consuming.state === 'up') for (const binding of this.bindings) await binding.bindRefused(consuming.current!);
    this.isEverythingAllowed ||= this.declaredMessages().every((message) => !refusals.isRefused(message));
    this.resolveFirstCheck();
  }
}

/** The bindings of a consuming service's queue to its event types. */
class Binding {
  private refused: ReadonlySet<string> = new Set();

  constructor(
    readonly subscriber: Subscriber,
    private readonly links: Links,
  ) {}

  get boundTypes(): ReadonlySet<string> {
    return without(this.subscriber.types, this.refused);
  }

  async bindAll(model: ChannelModel): Promise<void> {
    this.refused = await this.bind(model, this.subscriber.types);
  }

  /** Binds the types that were refused. Their earlier events are then replayed. */
  async bindRefused(model: ChannelModel): Promise<void> {
    if (this.refused.size === 0) return;
    const stillRefused = await this.bind(model, this.refused);
    const bound = without(this.refused, stillRefused);
    if (bound.size > 0) await this.subscriber.onBound?.(bound);
    this.refused = stillRefused;
  }

  private async bind(model: ChannelModel, types: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const { topology, refusals } = this.links;
    const refused = await topology.bindConsumer(model, this.subscriber, types);
    for (const type of types) refusals.report(`consume ${type}`, !refused.has(type));
    return refused;
  }
}

function without(types: ReadonlySet<string>, others: ReadonlySet<string>): Set<string> {
  return new Set([...types].filter((type) => !others.has(type)));
}
