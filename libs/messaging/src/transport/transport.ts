import { type CustomTransportStrategy, type MessageHandler, Server } from '@nestjs/microservices';
import type { EventEnvelope, EventType } from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import { isObservable, lastValueFrom } from 'rxjs';
import type { DataSource, EntityManager } from 'typeorm';
import type { Broker, BrokerConnection, Subscription, UnattachedQueue } from '../broker/broker.js';
import { observeBroker } from '../broker/broker-metrics.js';
import { newInvalidRequestError, type ReplyEnvelope, toErrorReply } from '../broker/commands.js';
import { Consumer, type EventHandler } from '../consumer/consumer.js';
import { observeConsumer } from '../consumer/consumer-metrics.js';
import { DeferredEvents } from '../consumer/deferred-events.js';
import { DeferredLoop } from '../consumer/deferred-loop.js';
import { ReplayServedV1, SubscribedTypes } from '../consumer/subscribed-types.js';
import type { MessagingLog } from '../log.js';
import type { EventOrigin } from '../routing/rabbitmq-names.js';
import { messageValidator } from '../validation/message-validator.js';
import type { HandlerOptions } from './patterns.js';

/**
 * How often a running replica records the types that it handles. This interval is much shorter than the time after
 * which a type counts as retired.
 */
const TOUCH_MS = 3_600_000;
/** How often deferred events are read if other replicas may have deferred events. */
const DEFERRED_POLL_MS = 1_000;
/** The same if all services run in one process: then only events from before a restart are found. */
const DEFERRED_POLL_OF_SINGLE_PROCESS_MS = 2_000;

/** A queue that was lost is usually attached again within this time. */
const UNATTACHED_SECONDS = 5;

/**
 * Connects Nest's @EventPattern and @MessagePattern methods to the broker. An @EventPattern method receives `(events, {
 * tx })`: consecutive events of its type, and the transaction that writes their inbox entries. A @MessagePattern method
 * receives the request, and returns the reply or throws a DomainError.
 */
export class Transport extends Server implements CustomTransportStrategy {
  /** If true, Nest does not log errors of handlers, but throws them to the consumer or to the caller of the command. */
  override readonly propagatesEventHandlerErrors = true;
  /** The handlers by event type, complete after {@link listen}. Replays of dead letters use them too. */
  readonly eventHandlers = new Map<string, EventHandler>();
  private readonly idempotent = new Set<string>();
  private readonly origins = new Map<string, Partial<EventOrigin>>();
  private subscriptions: Subscription[] = [];
  private stopObserving: () => void = () => undefined;
  private readonly deferred: DeferredEvents;
  private readonly subscribedTypes: SubscribedTypes | undefined;
  private types: ReadonlySet<string> = new Set();
  private deferredLoop: DeferredLoop | undefined;
  /** Whether this service must request a replay of earlier events: see {@link EventReplay.isRequired}. */
  private readonly needsReplay: boolean;

  constructor(
    private readonly service: string,
    private readonly broker: Broker,
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly log: MessagingLog,
    private readonly maxBatchWaitMs = 0,
  ) {
    super();
    this.deferred = new DeferredEvents(dataSource, clock);
    this.subscribedTypes =
      broker.eventReplay && new SubscribedTypes(dataSource, service, broker.eventReplay, clock, this.deferred);
    this.needsReplay = broker.eventReplay?.isRequired ?? false;
  }

  /**
   * Whether this service has handled all earlier events. Undefined if the service needs no replays, because it has a
   * cursor in every publisher's log.
   */
  async isBackfilled(): Promise<boolean | undefined> {
    return this.needsReplay ? this.subscribedTypes?.areBackfilled(this.types) : undefined;
  }

  /**
   * Marks these types for a replay of all their events to the handlers of this service. Current events are handled
   * meanwhile. Call {@link requestReplay} after the commit. Only `idempotent` handlers receive the replayed events.
   * Other handlers are not called, because the events already have inbox entries.
   */
  async scheduleReplay(tx: EntityManager, types: readonly EventType<unknown>[]): Promise<void> {
    if (!this.subscribedTypes) throw new Error('This broker has no event replay.');
    await this.subscribedTypes.scheduleReplay(
      tx,
      types.map(({ name }) => name),
    );
  }

  /**
   * Requests the scheduled replays. May be called repeatedly, because a replay in progress is not sent a second time.
   */
  async requestReplay(): Promise<void> {
    await this.subscribedTypes?.requestMissingReplays();
  }

  /** Marks all types of this service for a replay, as {@link scheduleReplay} does. */
  async scheduleReplayOfAll(tx: EntityManager): Promise<void> {
    await this.subscribedTypes?.scheduleReplay(tx, [...this.types]);
  }

  /** Whether all events of the replay since {@link scheduleReplayOfAll} have been handled. */
  async isReplayOfAllComplete(): Promise<boolean> {
    return (await this.subscribedTypes?.isReplayComplete([...this.types])) ?? true;
  }

  /** Whether all events of the replay since {@link scheduleReplay} have been handled. */
  async isReplayComplete(types: readonly EventType<unknown>[]): Promise<boolean> {
    return (await this.subscribedTypes?.isReplayComplete(types.map(({ name }) => name))) ?? false;
  }

  /** State of the connection to the broker. Undefined without an external broker. */
  get brokerState(): BrokerConnection['state'] | undefined {
    return this.broker.connection?.state;
  }

  /** See {@link BrokerConnection.missingPermissions}. */
  get missingPermissions(): readonly string[] {
    return this.broker.connection?.missingPermissions ?? [];
  }

  /** The queues that this service cannot read for some seconds now, although the broker is connected. */
  get unattachedQueues(): readonly UnattachedQueue[] {
    const unattached = this.broker.connection?.unattached ?? [];
    return unattached.filter(({ seconds }) => seconds > UNATTACHED_SECONDS);
  }

  listen(ready: (error?: unknown) => void): void {
    this.connectHandlers().then(() => ready(), ready);
  }

  private async connectHandlers(): Promise<void> {
    if (this.broker.connection) this.stopObserving = observeBroker(this.broker.connection, this.service);
    for (const [pattern, handler] of this.messageHandlers) {
      if (handler.isEventHandler) {
        this.eventHandlers.set(pattern, (events, context) => awaitResult(handler, events, context));
        const { idempotent, origin }: HandlerOptions = handler.extras ?? {};
        if (idempotent) this.idempotent.add(pattern);
        if (origin) this.origins.set(pattern, origin);
      } else
        this.subscriptions.push(
          await this.broker.respond(pattern, (payload) => this.handleCommand(pattern, handler, payload)),
        );
    }
    if (this.eventHandlers.size > 0) this.subscriptions.push(await this.subscribe());
  }

  private async subscribe(): Promise<Subscription> {
    const consumer = new Consumer(
      this.dataSource,
      { byType: this.eventHandlers, idempotent: this.idempotent },
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
      maxBatchWaitMs: this.maxBatchWaitMs,
      deliver: (events: readonly EventEnvelope[]) => consumer.deliver(events),
    };
    const { subscribedTypes } = this;
    if (subscribedTypes) this.eventHandlers.set(ReplayServedV1.name, subscribedTypes.onServed);
    const stopObserving = observeConsumer(this.dataSource, this.service);
    const subscription = await this.broker.subscribe({
      ...subscriber,
      ...(subscribedTypes && this.needsReplay
        ? {
            formerTypes: await subscribedTypes.findRetired(types),
            onQueueLost: () => subscribedTypes.markAllMissing(),
            onBound: (boundTypes) => subscribedTypes.requestReplay(boundTypes),
          }
        : {}),
    });
    const loop = this.startDeferredLoop(consumer);
    return {
      close: async () => {
        stopObserving();
        await Promise.all([subscription.close(), loop.close()]);
      },
    };
  }

  /**
   * Starts the loop that handles deferred events: events that replicas of other releases deferred, and events that the
   * database blocked.
   */
  private startDeferredLoop(consumer: Consumer): DeferredLoop {
    let lastTouchAt = this.clock.now().getTime();
    const step = async (): Promise<number> => {
      const now = this.clock.now().getTime();
      if (this.needsReplay && now - lastTouchAt > TOUCH_MS) {
        await this.subscribedTypes?.touch(this.types);
        lastTouchAt = now;
      }
      return consumer.retryDeferred();
    };
    const pollMs = this.needsReplay ? DEFERRED_POLL_MS : DEFERRED_POLL_OF_SINGLE_PROCESS_MS;
    this.deferredLoop = new DeferredLoop(step, this.log, pollMs);
    this.deferredLoop.start();
    return this.deferredLoop;
  }

  private async handleCommand(command: string, handler: MessageHandler, payload: unknown): Promise<ReplyEnvelope> {
    const invalid = messageValidator.findViolation('request', command, payload);
    if (invalid) {
      this.log.error({ err: invalid }, 'command refused: its request is invalid');
      return toErrorReply(newInvalidRequestError(invalid));
    }
    try {
      return { ok: true, reply: await awaitResult(handler, payload, {}) };
    } catch (error) {
      const reply = toErrorReply(error);
      if (!reply.ok && reply.code === 'internal') this.log.error({ err: error }, 'command failed');
      return reply;
    }
  }

  /** Accepts no more messages. Resolves when the messages in progress are handled. */
  async close(): Promise<void> {
    this.stopObserving();
    const closing = this.subscriptions;
    this.subscriptions = [];
    await Promise.all(closing.map((subscription) => subscription.close()));
  }

  on(): never {
    throw new Error('This transport emits no events.');
  }

  unwrap(): never {
    throw new Error('This transport wraps no other server.');
  }
}

async function awaitResult(handler: MessageHandler, data: unknown, context: unknown): Promise<unknown> {
  const result: unknown = await handler(data, context);
  return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
}
