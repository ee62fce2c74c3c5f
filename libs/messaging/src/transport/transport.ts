import { type CustomTransportStrategy, type MessageHandler, Server } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import type { EventEnvelope, EventType } from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import type { DataSource, EntityManager } from 'typeorm';
import type { Broker, BrokerConnection, Subscription } from '../broker/broker.js';
import { observeBroker } from '../broker/broker-metrics.js';
import { invalidRequest, refusal, type ReplyEnvelope } from '../broker/commands.js';
import { Consumer, type EventHandler } from '../consumer/consumer.js';
import { observeConsumer } from '../consumer/consumer-metrics.js';
import { DeferredEvents } from '../consumer/deferred-events.js';
import { DeferredLoop } from '../consumer/deferred-loop.js';
import type { MessagingLog } from '../log.js';
import type { HandlerExtras } from './patterns.js';
import type { EventOrigin } from '../routing/rabbitmq-names.js';
import { ReplayServedV1, SubscribedTypes } from '../consumer/subscribed-types.js';
import { findInvalidity } from '../validation/message-validator.js';

/** How often a running replica says which types it handles; far less than a type that nobody handles is kept. */
const TOUCH_MS = 3_600_000;
/** How long an event waits that another replica deferred; in one process there is none, and a crash left what there is. */
const POLL_MS = { shared: 1_000, alone: 2_000 };

/**
 * Joins Nest's @EventPattern and @MessagePattern methods to the broker. An @EventPattern method is given
 * `(events, { tx })`: a run of events of its type and the transaction their marks are written in. A
 * @MessagePattern method is given the request and returns the reply or throws a DomainError.
 */
export class Transport extends Server implements CustomTransportStrategy {
  /** Nest need not log what the consumer or the caller is told. */
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
  /** Whether it has to ask for what was before it was bound. */
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
    this.subscribedTypes = broker.past && new SubscribedTypes(dataSource, service, broker.past, clock, this.deferred);
    this.hasMissed = broker.past?.isMissed ?? false;
  }

  /** Whether this service has been told what happened before it came; undefined where its publishers know that. */
  async knowsThePast(): Promise<boolean | undefined> {
    return this.hasMissed ? this.subscribedTypes?.areComplete(this.types) : undefined;
  }

  /**
   * Everything that was ever published of these types is to come to this service's handlers once more, beside what happens
   * meanwhile: to be asked for by {@link askForThePast} when the transaction has committed. For handlers that are
   * `repeatable`: others have marked it as done and are not called.
   */
  async missAgain(tx: EntityManager, types: readonly EventType<unknown>[]): Promise<void> {
    if (!this.subscribedTypes) throw new Error('This broker cannot be asked for the past.');
    await this.subscribedTypes.missAgain(
      tx,
      types.map(({ name }) => name),
    );
  }

  /** Harmless however often: what is on its way already is not sent a second time. */
  async askForThePast(): Promise<void> {
    await this.subscribedTypes?.askForWhatIsMissing();
  }

  /** Whether all of it has come, and has had its effect, since {@link missAgain}. */
  async haveBeenToldAgain(types: readonly EventType<unknown>[]): Promise<boolean> {
    return (await this.subscribedTypes?.haveBeenToldAgain(types.map(({ name }) => name))) ?? false;
  }

  /** Whether the broker can be spoken to; undefined where there is none outside this process. */
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
            formerTypes: await subscribedTypes.retired(types),
            lost: () => subscribedTypes.loseAll(),
            bound: () => subscribedTypes.askForThePast(types),
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

  /** Handles what replicas of other releases keep for this one, and what the database blocked. */
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
      return refusal(invalidRequest(invalid));
    }
    try {
      return { ok: true, reply: await settle(handler, payload, {}) };
    } catch (error) {
      const reply = refusal(error);
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
