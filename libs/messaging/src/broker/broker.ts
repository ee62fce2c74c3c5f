import type { EventEnvelope } from '@svc/contracts';
import type { OriginFilter } from '../routing/event-origin.js';

/**
 * Delivers messages from the relay of one service to the consumers of other services. The broker is the only component
 * that differs between services in one process and services in separate processes. The code of the event log, the
 * relay's cursors, the inbox and the handlers is the same in both cases.
 */
export interface Broker {
  /** The targets of a relay. Each target has a separate durable cursor. */
  targets(): readonly RelayTarget[];
  /** Calls `changed` whenever the set of targets changes, until the returned function is called. */
  watchTargets(changed: () => void): () => void;
  /**
   * Delivers the events of the types in `subscriber.types` to `subscriber` until {@link Subscription.close} is called.
   */
  subscribe(subscriber: Subscriber): Promise<Subscription>;
  /** Handles commands of this name until {@link Subscription.close} is called. */
  respond(command: string, responder: Responder): Promise<Subscription>;
  /** Sends a request and waits for the reply until the deadline. The request and the reply are not stored. */
  request(command: string, payload: unknown, timeoutMs: number): Promise<unknown>;
  /** Present if the broker is a separate server. */
  readonly connection?: BrokerConnection;
  /** Present if the broker has its own dead-letter queue. */
  readonly deadLetters?: BrokerDeadLetters;
  /** Event replay: for a service that subscribes late, or rebuilds a read model. */
  readonly eventReplay?: EventReplay;
}

export interface BrokerConnection {
  /** `blocked`: connected, but the broker accepts no messages now (memory or disk alarm). */
  readonly state: 'up' | 'unavailable' | 'blocked';
  /** The queues that this process should read and cannot read now, although the broker is connected. */
  readonly unattached: readonly UnattachedQueue[];
  /**
   * The messages that this service declares (`publish <type>`, `send <command>`, `consume <type>`) and that the broker
   * refuses. Empty when the broker has allowed all of them once since the start, and while it is unavailable.
   */
  readonly missingPermissions: readonly string[];
  /** Every message type that the broker has refused since the start, and whether it still refuses it. */
  readonly refusals: ReadonlyMap<string, boolean>;
  /**
   * Number of messages that wait in each queue that this process reads. Rejects when the broker does not respond in
   * time.
   */
  waiting(): Promise<ReadonlyMap<string, number>>;
  /** Number of {@link BrokerDeadLetters}. Rejects when the broker does not respond in time. */
  deadLetters(): Promise<number>;
}

export interface UnattachedQueue {
  readonly name: string;
  /** Whether the queue is for requests, which wait for a reply. */
  readonly isForRequests: boolean;
  /** Time since the queue was lost. */
  readonly seconds: number;
}

/** Messages of this service that the broker dead-lettered, because no delivery of them was ever acknowledged. */
export interface BrokerDeadLetters {
  count(): Promise<number>;
  summary(): Promise<BrokerDeadLetterSummary>;
  /**
   * Passes up to 1 000 of the messages to the consumer, and removes each message after the consumer's commit. If a
   * message is passed twice, the consumer's inbox ignores the duplicate. `beforeFirst` is called once before the first
   * message is passed, and not at all if there is none.
   */
  replay(beforeFirst?: () => Promise<void>): Promise<BrokerReplay>;
}

export interface BrokerDeadLetterSummary {
  readonly count: number;
  /** Maximum length of the queue: when it is full, the broker drops the oldest message. */
  readonly countMax: number;
  readonly oldest: BrokerDeadLetter | null;
}

export interface BrokerDeadLetter {
  readonly messageId: string | null;
  readonly type: string | null;
  /** RabbitMQ's reason: `delivery_limit`, `rejected`. */
  readonly reason: string | null;
  readonly deadLetteredAt: Date | null;
}

export interface BrokerReplay {
  readonly replayed: number;
  /** Messages that are unreadable or not from the service that publishes the type. They stay in the queue. */
  readonly refused: number;
}

/** Event replay: a service requests all events of a type from the service that publishes it. */
export interface EventReplay {
  /**
   * True if a service that subscribes late has missed the earlier events. False if each subscriber has a cursor in the
   * log of every publisher.
   */
  readonly isRequired: boolean;
  /**
   * Resolves to true when the publisher of the type has stored the request, and to false when no service has published
   * the type yet.
   */
  request(request: ReplayRequest): Promise<boolean>;
  /**
   * Passes the requests of other services to `accept`, which resolves when the request is stored. A broker that does
   * not know the publisher of a type calls `hasPublished` of each service.
   */
  serveRequests(
    accept: (request: ReplayRequest) => Promise<void>,
    hasPublished: (type: string) => Promise<boolean>,
  ): Promise<Subscription>;
  /**
   * Sends events to one service. Resolves to true when that service has stored the events, and to false when the
   * service no longer exists.
   */
  deliver(service: string, events: readonly EventEnvelope[]): Promise<boolean>;
}

export interface ReplayRequest {
  /** UUID. Each retry of the request has the same id. */
  readonly id: string;
  /** The service that requests the replay. */
  readonly service: string;
  /** Type of the events to replay from the beginning. */
  readonly type: string;
}

export interface RelayTarget {
  /** Key of the cursor. */
  readonly name: string;
  /** Types to deliver. Undefined if the broker filters by type. */
  readonly types?: ReadonlySet<string>;
  /** See {@link Subscriber.maxBatchWaitMs}. */
  readonly maxBatchWaitMs?: number;
  /** Number of batches that may be unconfirmed at the same time. The default is 1. */
  readonly window?: number;
  /** Resolves when the target has stored the batch. The relay then moves its cursor. */
  deliver(events: readonly EventEnvelope[]): Promise<void>;
  /**
   * Present if the target delivers to several consumers. Returns a separate target for each consumer, with the name
   * `<name>/<consumer>`. The relay uses them while {@link deliver} throws {@link ConsumerRefusedError}.
   */
  consumerTargets?(): Promise<readonly RelayTarget[]>;
}

/**
 * One of several consumers rejected the batch because its queue is full. The other consumers accepted the batch. The
 * broker does not report which consumer rejected it.
 */
export class ConsumerRefusedError extends Error {
  override readonly name = 'ConsumerRefusedError';
}

/**
 * The permissions of this service at the broker do not allow events of these types. No event of the batch was
 * published.
 */
export class TypesRefusedError extends Error {
  override readonly name = 'TypesRefusedError';

  constructor(readonly types: ReadonlySet<string>) {
    super(`The broker refuses ${[...types].join(', ')}.`);
  }
}

export interface Subscriber {
  /** The consuming service. */
  readonly name: string;
  readonly types: ReadonlySet<string>;
  /** A filter for some of the types: only the events of the listed origins are delivered. */
  readonly origins?: OriginFilter;
  /** How long an event may wait so that it is handled in a batch with other events. */
  readonly maxBatchWaitMs?: number;
  /** Types that the service no longer handles: no replica has handled them for a week. */
  readonly formerTypes?: ReadonlySet<string>;
  /**
   * Called before the subscription if the queue of this service does not exist, because it was deleted or because the
   * service is new.
   */
  readonly onQueueLost?: () => Promise<void>;
  /**
   * Called each time after the queue was bound to these types, and before the first delivery. The other types follow
   * when the broker allows their bindings.
   */
  readonly onBound?: (types: ReadonlySet<string>) => Promise<void>;
  /**
   * May receive events of other types too, because a replica of another release may have bound the shared queue to
   * them. Resolves when each event is committed or deferred.
   */
  readonly deliver: (events: readonly EventEnvelope[]) => Promise<void>;
}

export interface Subscription {
  /** Accepts no more messages. Resolves when the messages in progress are handled. */
  close(): Promise<void>;
}

export type Responder = (payload: unknown) => Promise<unknown>;
