import { type CustomTransportStrategy, type MessageHandler, Server } from '@nestjs/microservices';
import type { EventEnvelope, EventType } from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import { isObservable, lastValueFrom } from 'rxjs';
import type { DataSource, EntityManager } from 'typeorm';
import type { Broker, BrokerConnection, Subscription } from '../broker/broker.js';
import { observeBroker } from '../broker/broker-metrics.js';
import { invalidRequest, type ReplyEnvelope, toErrorReply } from '../broker/commands.js';
import { Consumer, type EventHandler } from '../consumer/consumer.js';
import { observeConsumer } from '../consumer/consumer-metrics.js';
import { DeferredEvents } from '../consumer/deferred-events.js';
import { DeferredLoop } from '../consumer/deferred-loop.js';
import { ReplayServedV1, SubscribedTypes } from '../consumer/subscribed-types.js';
import type { MessagingLog } from '../log.js';
import type { EventOrigin } from '../routing/rabbitmq-names.js';
import { findInvalidity } from '../validation/message-validator.js';
import type { HandlerExtras } from './patterns.js';

/**
 * How often a running replica records the types that it handles; far less than the time until a type counts as retired.
 */
const TOUCH_MS = 3_600_000;
/** Poll for events that another replica deferred; in one process there is none, and only a crash leaves any. */
const POLL_MS = { shared: 1_000, alone: 2_000 };

/**
 * Joins Nest's @EventPattern and @MessagePattern methods to the broker. An @EventPattern method gets `(events, { tx
 * })`: a run of events of its type and the transaction that marks them as done. A @MessagePattern method gets the
 * request and returns the reply or throws a DomainError.
 */
export class Transport extends Server implements CustomTransportStrategy {
  /** Nest need not log errors that the consumer or the caller gets. */
  override readonly propagatesEventHandlerErrors = true;
  /** Filled by Nest before {@link listen}; dead letters are replayed through it. */
  readonly eventHandlers = new Map<string, EventHandler>();
  private readonly repeatable = new Set<string>();
  private readonly origins = new Map<string, Partial<EventOrigin>>();
  private subscriptions: Subscription[] = [];
  private unobserve: () => void = () => undefined;
  private readonly deferred: DeferredEvents;
  private readonly subscribedTypes: SubscribedTypes | undefined;
  private types: ReadonlySet<string> = new Set();
  private deferredLoop: DeferredLoop | undefined;
  /** Whether earlier events have to be requested: see {@link EventReplay.isRequired}. */
  private readonly hasMissed: boolean;

  constructor(
    private readonly service: string,
    private readonly broker: Broker,
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly log: MessagingLog,
    private readonly gatherMs = 0,
  ) {
    super();
    this.deferred = new DeferredEvents(dataSource, clock);
    this.subscribedTypes =
      broker.eventReplay && new SubscribedTypes(dataSource, service, broker.eventReplay, clock, this.deferred);
    this.hasMissed = broker.eventReplay?.isRequired ?? false;
  }

  /** Whether this service is backfilled with all earlier events; undefined where its publishers track that. */
  async isBackfilled(): Promise<boolean | undefined> {
    return this.hasMissed ? this.subscribedTypes?.areBackfilled(this.types) : undefined;
  }

  /**
   * Marks all events ever published of these types for a replay to this service's handlers, beside current events.
   * Request it with {@link requestReplay} after the commit. For handlers that are `repeatable`: others have an inbox
   * entry for the event and are not called.
   */
  async scheduleReplay(tx: EntityManager, types: readonly EventType<unknown>[]): Promise<void> {
    if (!this.subscribedTypes) throw new Error('This broker has no event replay.');
    await this.subscribedTypes.scheduleReplay(
      tx,
      types.map(({ name }) => name),
    );
  }

  /** May be called repeatedly: a replay that is under way is not sent a second time. */
  async requestReplay(): Promise<void> {
    await this.subscribedTypes?.requestMissingReplays();
  }

  /** Whether all replayed events have arrived and had their effect since {@link scheduleReplay}. */
  async isReplayComplete(types: readonly EventType<unknown>[]): Promise<boolean> {
    return (await this.subscribedTypes?.isReplayComplete(types.map(({ name }) => name))) ?? false;
  }

  /** State of the connection to the broker; undefined without an external broker. */
  get brokerState(): BrokerConnection['state'] | undefined {
    return this.broker.connection?.state;
  }

  listen(ready: (error?: unknown) => void): void {
    this.join().then(() => ready(), ready);
  }

  private async join(): Promise<void> {
    if (this.broker.connection) this.unobserve = observeBroker(this.broker.connection, this.service);
    for (const [pattern, handler] of this.messageHandlers) {
      if (handler.isEventHandler) {
        this.eventHandlers.set(pattern, (events, context) => settle(handler, events, context));
        const { repeatable, origin }: HandlerExtras = handler.extras ?? {};
        if (repeatable) this.repeatable.add(pattern);
        if (origin) this.origins.set(pattern, origin);
      } else
        this.subscriptions.push(
          await this.broker.respond(pattern, (payload) => this.answer(pattern, handler, payload)),
        );
    }
    if (this.eventHandlers.size > 0) this.subscriptions.push(await this.subscribe());
  }

  private async subscribe(): Promise<Subscription> {
    const consumer = new Consumer(
      this.dataSource,
      { byType: this.eventHandlers, repeatable: this.repeatable },
      this.clock,
      this.log,
      this.deferred,
      () => this.deferredLoop?.nudge(),
    );
    const { types } = consumer;
    this.types = types;
    const subscriber = {
      name: this.service,
      types,
      origins: this.origins,
      gatherMs: this.gatherMs,
      deliver: (events: readonly EventEnvelope[]) => consumer.deliver(events),
    };
    const { subscribedTypes } = this;
    if (subscribedTypes) this.eventHandlers.set(ReplayServedV1.name, subscribedTypes.onServed);
    const unobserve = observeConsumer(this.dataSource, this.service);
    const subscription = await this.broker.subscribe({
      ...subscriber,
      ...(subscribedTypes && this.hasMissed
        ? {
            formerTypes: await subscribedTypes.findRetired(types),
            onQueueLost: () => subscribedTypes.markAllMissing(),
            onBound: () => subscribedTypes.requestReplay(types),
          }
        : {}),
    });
    const loop = this.retryDeferred(consumer);
    return {
      close: async () => {
        unobserve();
        await Promise.all([subscription.close(), loop.close()]);
      },
    };
  }

  /** Handles the events that replicas of other releases kept for this one, and those that the database blocked. */
  private retryDeferred(consumer: Consumer): DeferredLoop {
    let touchedAt = this.clock.now().getTime();
    const step = async (): Promise<number> => {
      const now = this.clock.now().getTime();
      if (this.hasMissed && now - touchedAt > TOUCH_MS) {
        await this.subscribedTypes?.touch(this.types);
        touchedAt = now;
      }
      return consumer.retryDeferred();
    };
    this.deferredLoop = new DeferredLoop(step, this.log, this.hasMissed ? POLL_MS.shared : POLL_MS.alone);
    this.deferredLoop.start();
    return this.deferredLoop;
  }

  private async answer(command: string, handler: MessageHandler, payload: unknown): Promise<ReplyEnvelope> {
    const invalid = findInvalidity('request', command, payload);
    if (invalid) {
      this.log.error({ err: invalid }, 'command refused: its request is invalid');
      return toErrorReply(invalidRequest(invalid));
    }
    try {
      return { ok: true, reply: await settle(handler, payload, {}) };
    } catch (error) {
      const reply = toErrorReply(error);
      if (!reply.ok && reply.code === 'internal') this.log.error({ err: error }, 'command failed');
      return reply;
    }
  }

  /** Takes no new work and resolves when the work under way is done. */
  async close(): Promise<void> {
    this.unobserve();
    const closing = this.subscriptions;
    this.subscriptions = [];
    await Promise.all(closing.map((subscription) => subscription.close()));
  }

  on(): never {
    throw new Error('This transport has no events of its own.');
  }

  unwrap(): never {
    throw new Error('This transport wraps no other server.');
  }
}

async function settle(handler: MessageHandler, data: unknown, context: unknown): Promise<unknown> {
  const result: unknown = await handler(data, context);
  return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
}
