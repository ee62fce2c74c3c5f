import type { EventEnvelope } from '@svc/contracts';
import type { WantedOrigins } from '../routing/event-origin.js';

/**
 * The last step between services: the only thing that differs between one process and many. The event log, the
 * relay's cursors, the inbox and the handlers are the same code on both sides of it.
 */
export interface Broker {
  /** To whom a relay hands its log; each has a durable cursor of its own. */
  targets(): readonly RelayTarget[];
  /** Calls `changed` whenever the targets are others than before, until the returned function is called. */
  watchTargets(changed: () => void): () => void;
  /** From now on `subscriber` is given the events of its types. Ends when {@link Subscription.close} is called. */
  subscribe(subscriber: Subscriber): Promise<Subscription>;
  /** Answers commands of this name until closed. */
  respond(command: string, answer: Responder): Promise<Subscription>;
  /** Asks and waits for the answer: transient, with a deadline, never stored. */
  request(command: string, payload: unknown, timeoutMs: number): Promise<unknown>;
  /** Only where the broker is a server of its own: whether it can be spoken to. */
  readonly connection?: BrokerConnection;
  /** Only where the broker keeps dead letters of its own. */
  readonly deadLetters?: BrokerDeadLetters;
  /** How a service is told of the past: one that binds late, or builds what it keeps anew. */
  readonly past?: Past;
}

export interface BrokerConnection {
  /** `blocked`: connected, but the broker takes no messages now (memory or disk alarm). */
  readonly state: 'up' | 'away' | 'blocked';
  /** Messages that wait in the queues this process reads, by queue; rejects when the broker does not say in time. */
  waiting(): Promise<ReadonlyMap<string, number>>;
  /** Messages of this service that the broker gave up on; rejects as {@link waiting} does. */
  deadLetters(): Promise<number>;
}

/** Messages of this service that the broker gave up on, because no delivery of them was ever acknowledged. */
export interface BrokerDeadLetters {
  count(): Promise<number>;
  summary(): Promise<BrokerDeadLetterSummary>;
  /**
   * Hands up to 1 000 of them to the consumer. A message is removed after its commit. Replay: the consumer's inbox undoes
   * what comes twice.
   */
  replay(): Promise<BrokerReplay>;
}

export interface BrokerDeadLetterSummary {
  readonly count: number;
  /** Beyond it the broker drops the oldest. */
  readonly countMax: number;
  readonly oldest: BrokerDeadLetter | null;
}

export interface BrokerDeadLetter {
  readonly messageId: string | null;
  readonly type: string | null;
  /** As RabbitMQ names it: `delivery_limit`, `rejected`. */
  readonly reason: string | null;
  readonly deadLetteredAt: Date | null;
}

export interface BrokerReplay {
  readonly replayed: number;
  /** Unreadable, or not from the service that publishes the type. They stay. */
  readonly refused: number;
}

/** A service asks whoever published a type for all there ever was of it. */
export interface Past {
  /** Whether one that binds late has missed what was before; not where each has a cursor of its own in every log. */
  readonly isMissed: boolean;
  /** Resolves when the request is safe with the publisher of the type; false when nobody has published it yet. */
  ask(request: ReplayRequest): Promise<boolean>;
  /**
   * Gives this service what others ask of it; `accept` resolves when the request is kept. Where the broker does not know
   * who publishes what, `hasPublished` says it.
   */
  answer(
    accept: (request: ReplayRequest) => Promise<void>,
    hasPublished: (type: string) => Promise<boolean>,
  ): Promise<Subscription>;
  /** Straight to one service. Resolves when safe with it; false when there is no such service any more. */
  deliver(service: string, events: readonly EventEnvelope[]): Promise<boolean>;
}

export interface ReplayRequest {
  /** UUID; the same however often it is asked. */
  readonly id: string;
  /** Who asks. */
  readonly service: string;
  /** Type of the events it wants from the beginning. */
  readonly type: string;
}

export interface RelayTarget {
  /** Key of the cursor. */
  readonly name: string;
  /** The only ones it is to be given; all, where the broker sorts out who wants what. */
  readonly types?: ReadonlySet<string>;
  /** As of the subscriber. */
  readonly gatherMs?: number;
  /** Batches it can be given before the first of them is safe; one when left out. */
  readonly window?: number;
  /** Resolves when the batch is safe with the target; the relay then moves its cursor. */
  deliver(events: readonly EventEnvelope[]): Promise<void>;
  /**
   * Where the target stands for several consumers: each of those there are now as a target of its own, named
   * `<name>/<consumer>`. Used while {@link deliver} throws {@link ConsumerRefusedError}.
   */
  separately?(): Promise<readonly RelayTarget[]>;
}

/** A consumer takes nothing now (its queue is full). Of several, the broker does not say which, and the others took it. */
export class ConsumerRefusedError extends Error {
  override readonly name = 'ConsumerRefusedError';
}

export interface Subscriber {
  /** The consuming service. */
  readonly name: string;
  readonly types: ReadonlySet<string>;
  /** Of these types it wants a part only. */
  readonly origins?: WantedOrigins;
  /** How long an event may wait for others to be handled with it. */
  readonly gatherMs?: number;
  /** Types that an earlier release of the service was bound to and no replica handles any more. */
  readonly formerTypes?: ReadonlySet<string>;
  /** Called when what was kept for it is gone, or was never there, before it is bound. */
  readonly lost?: () => Promise<void>;
  /** Called whenever it has been bound to its types, before it is given anything. */
  readonly bound?: () => Promise<void>;
  /** Also of other types, which a replica of another release is bound to. Resolves when each is committed or kept. */
  readonly deliver: (events: readonly EventEnvelope[]) => Promise<void>;
}

export interface Subscription {
  /** No new work is given; resolves when what was given is done. */
  close(): Promise<void>;
}

export type Responder = (payload: unknown) => Promise<unknown>;
