import type { EventEnvelope } from '@svc/contracts';
import type { OriginFilter } from '../routing/event-origin.js';

/**
 * Delivers messages from the relay of one service to the consumers of others: the only part that differs between one process
 * and many. The event log, the relay's cursors, the inbox and the handlers are the same code for both.
 */
export interface Broker {
  /** The targets of a relay; each has a durable cursor of its own. */
  targets(): readonly RelayTarget[];
  /** Calls `changed` whenever the set of targets changes, until the returned function is called. */
  watchTargets(changed: () => void): () => void;
  /** Delivers the events of its types to `subscriber` until {@link Subscription.close} is called. */
  subscribe(subscriber: Subscriber): Promise<Subscription>;
  /** Answers commands of this name until closed. */
  respond(command: string, answer: Responder): Promise<Subscription>;
  /** Sends a request and waits for the reply: transient, with a deadline, never stored. */
  request(command: string, payload: unknown, timeoutMs: number): Promise<unknown>;
  /** Only where the broker is a server of its own. */
  readonly connection?: BrokerConnection;
  /** Only where the broker keeps dead letters of its own. */
  readonly deadLetters?: BrokerDeadLetters;
  /** Event replay: for a service that subscribes late, or rebuilds a read model. */
  readonly eventReplay?: EventReplay;
}

export interface BrokerConnection {
  /** `blocked`: connected, but the broker accepts no messages now (memory or disk alarm). */
  readonly state: 'up' | 'away' | 'blocked';
  /** Messages waiting in the queues that this process reads, by queue; rejects when the broker does not answer in time. */
  waiting(): Promise<ReadonlyMap<string, number>>;
  /** Number of {@link BrokerDeadLetters}; rejects as {@link waiting} does. */
  deadLetters(): Promise<number>;
}

/** Messages of this service that the broker dead-lettered, because no delivery of them was ever acknowledged. */
export interface BrokerDeadLetters {
  count(): Promise<number>;
  summary(): Promise<BrokerDeadLetterSummary>;
  /**
   * Hands up to 1 000 of them to the consumer. A message is removed after its commit. Replay: the consumer's inbox ignores
   * duplicates.
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

/** Event replay: a service requests all events of a type from the service that publishes it. */
export interface EventReplay {
  /** True where a service that subscribes late has missed earlier events; false where each subscriber has a cursor in every log. */
  readonly isRequired: boolean;
  /** Resolves when the publisher of the type has stored the request; false when no service has published the type yet. */
  request(request: ReplayRequest): Promise<boolean>;
  /**
   * Delivers the requests of other services to this one; `accept` resolves when the request is stored. `hasPublished` is used
   * where the broker does not know who publishes a type.
   */
  serveRequests(
    accept: (request: ReplayRequest) => Promise<void>,
    hasPublished: (type: string) => Promise<boolean>,
  ): Promise<Subscription>;
  /** Sends events to one service. Resolves when that service has stored them; false when the service no longer exists. */
  deliver(service: string, events: readonly EventEnvelope[]): Promise<boolean>;
}

export interface ReplayRequest {
  /** UUID; the same for each retry of the request. */
  readonly id: string;
  /** The service that requests the replay. */
  readonly service: string;
  /** Type of the events to replay from the beginning. */
  readonly type: string;
}

export interface RelayTarget {
  /** Key of the cursor. */
  readonly name: string;
  /** Types to deliver; all types where the broker filters. */
  readonly types?: ReadonlySet<string>;
  /** As in {@link Subscriber}. */
  readonly gatherMs?: number;
  /** Batches that may be unconfirmed at the same time; one when left out. */
  readonly window?: number;
  /** Resolves when the target has stored the batch; the relay then moves its cursor. */
  deliver(events: readonly EventEnvelope[]): Promise<void>;
  /**
   * Where the target covers several consumers: each current consumer as a target of its own, named `<name>/<consumer>`. Used
   * while {@link deliver} throws {@link ConsumerRefusedError}.
   */
  consumerTargets?(): Promise<readonly RelayTarget[]>;
}

/** A consumer accepts nothing now (its queue is full). The broker does not report which one; the others accepted the batch. */
export class ConsumerRefusedError extends Error {
  override readonly name = 'ConsumerRefusedError';
}

export interface Subscriber {
  /** The consuming service. */
  readonly name: string;
  readonly types: ReadonlySet<string>;
  /** Restricts some of the types to a part of their events. */
  readonly origins?: OriginFilter;
  /** How long an event may wait so that it is handled in a batch with others. */
  readonly gatherMs?: number;
  /** Types that an earlier release of the service subscribed to and that no replica handles any more. */
  readonly formerTypes?: ReadonlySet<string>;
  /** Called before the subscription when the queue of this service is gone or never existed. */
  readonly onQueueLost?: () => Promise<void>;
  /** Called after each binding to its types, before the first delivery. */
  readonly onBound?: () => Promise<void>;
  /** May get other types too, which a replica of another release is bound to. Resolves when each event is committed or deferred. */
  readonly deliver: (events: readonly EventEnvelope[]) => Promise<void>;
}

export interface Subscription {
  /** Accepts no new work; resolves when the work under way is done. */
  close(): Promise<void>;
}

export type Responder = (payload: unknown) => Promise<unknown>;
